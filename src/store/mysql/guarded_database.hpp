// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mysql/database.hpp"
#include "store/mysql/names.hpp"

#include <memory>
#include <string>
#include <utility>

namespace holdfast::mysql {

/// Database that adds advice to refusals. It also reads the identity of the data on the server, at
/// the same time as other requests.
class guarded_database final : public database,
                               public std::enable_shared_from_this<guarded_database> {
public:
    guarded_database(std::unique_ptr<database> inner, const store_context& context, tables named)
        : inner_{std::move(inner)}
        , context_{context}
        , named_{std::move(named)} {}

    asio::awaitable<answers> run(statements&, call_wishes = {}) override;

    asio::awaitable<std::shared_ptr<carrier>> connection_to_wait_on(time_point limit) override {
        return inner_->connection_to_wait_on(limit);
    }
    std::optional<server_facts> facts() const override { return inner_->facts(); }
    bool has_bells() const override { return inner_->has_bells(); }
    void no_bells_here() noexcept override { inner_->no_bells_here(); }
    duration command_timeout() const noexcept override { return inner_->command_timeout(); }
    std::string address() const override { return inner_->address(); }
    void close() noexcept override { inner_->close(); }

    database& unguarded() { return *inner_; }

    /// Returns the identity of the server's data, from the table of identities. The id is empty
    /// until it was read. A server that flushes its log at each commit loses no committed change.
    /// Until that setting is read, the server is assumed to flush.
    const server_identity& identity() const { return identity_; }

private:
    void ask_for_identity(const std::string& server);
    static asio::awaitable<void> read_identity(std::shared_ptr<guarded_database>);

    const std::unique_ptr<database> inner_;
    const store_context& context_;
    const tables named_;
    std::string asked_; ///< address of the server that was asked last for the identity
    server_identity identity_{.forgets_before = time_point::min()};
};

} // namespace holdfast::mysql
