// SPDX-License-Identifier: Apache-2.0
// Maintenance of a server and its tables: the checks of the doctor, the creation of the tables, and
// the deletion of unused rows (`sweep`).
#pragma once

#include "mysql/database.hpp"
#include "store/mysql/request_context.hpp"

#include <holdfast/diagnosis.hpp>
#include <holdfast/store.hpp>

#include <memory>
#include <vector>

namespace holdfast::mysql {

/// Implements `store::examine`. Checks the facts that the server reports about itself. Also checks
/// whether a lock can be taken, renewed and released.
asio::awaitable<std::vector<finding>> examine_server(request_context&, ask trial);

/// Implements `store::set_up`. The argument must be the database inside the `guarded_database`. The
/// `guarded_database` itself adds advice about locks to each refusal; here, this advice would be
/// wrong.
asio::awaitable<std::vector<finding>> make_tables(const request_context&, database&);

/// Returns the doctor's findings about a server's settings. Does no I/O.
std::vector<finding> judge(const server_facts&);

/// Task that deletes rows which were not used for a day. It runs every ten minutes, in small steps.
/// It may delete the row of a lock without harm to fencing tokens: tokens follow the server's
/// clock, so the next token is still greater than all earlier tokens.
class sweep : public std::enable_shared_from_this<sweep> {
public:
    /// The request context must live until stop() is called.
    explicit sweep(request_context& at)
        : at_{at}
        , sleep_{at.context.time.make_alarm()} {}

    void start();
    void stop() noexcept;

private:
    static asio::awaitable<void> loop(std::shared_ptr<sweep>);
    asio::awaitable<void> once();

    request_context& at_;
    const std::unique_ptr<alarm> sleep_;
    bool stopped_ = false;
};

/// Statements of one step of a sweep: a SELECT of unused names that come after the name `behind`,
/// and the DELETEs for the names that were found.
std::string unused_names(const tables&, const std::string& behind);
std::vector<std::string> unused_deleted(const tables&, const std::vector<std::string>& names);

} // namespace holdfast::mysql
