// SPDX-License-Identifier: Apache-2.0
// The MySQL store, its lock store, the database that adds advice to refusals (`guarded_database`),
// and the function that reads the options from a URL.
#pragma once

#include "mysql/database.hpp"
#include "store/mysql/counters.hpp"
#include "store/mysql/inspector.hpp"
#include "store/mysql/lock_requests.hpp"
#include "store/mysql/maintenance.hpp"
#include "store/mysql/sql.hpp"
#include "store/mysql/waiting.hpp"
#include "store/remote/attempts.hpp"
#include "store/remote/diagnostics.hpp"

#include <holdfast/mysql/options.hpp>
#include <holdfast/schemes.hpp>
#include <holdfast/store.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::mysql {

/// Database that adds advice to the server's refusals. In the background, it also reads the
/// identity of the data on the server.
class guarded_database final : public database,
                               public std::enable_shared_from_this<guarded_database> {
public:
    guarded_database(std::unique_ptr<database> inner, const store_context& context, tables named)
        : inner_{std::move(inner)}
        , context_{context}
        , named_{std::move(named)} {}

    asio::awaitable<answers> run(statements&, call_options = {}) override;

    asio::awaitable<std::shared_ptr<pinned_connection>>
    connection_to_wait_on(time_point limit) override {
        return inner_->connection_to_wait_on(limit);
    }
    std::optional<server_facts> facts() const override { return inner_->facts(); }
    bool has_bells() const override { return inner_->has_bells(); }
    void no_bells_here() noexcept override { inner_->no_bells_here(); }
    duration command_timeout() const noexcept override { return inner_->command_timeout(); }
    std::string address() const override { return inner_->address(); }
    void close() noexcept override { inner_->close(); }

    database& unguarded() { return *inner_; }

    /// Returns the identity of the server's data. The id is empty until it was read from the
    /// server. A server that flushes its log at each commit loses no committed change. Until the
    /// client has read this setting of the server, it assumes that the server flushes its log.
    const server_identity& identity() const { return identity_; }

private:
    void ask_for_identity(const std::string& server);
    static asio::awaitable<void> read_identity(std::shared_ptr<guarded_database>);

    const std::unique_ptr<database> inner_;
    const store_context& context_;
    const tables named_;
    std::string asked_; ///< server whose identity was last read or is being read
    server_identity identity_{.forgets_before = time_point::min()};
};

/// Maximum length of a lock name, in bytes. The client itself refuses a longer name, because some
/// servers would accept it.
inline constexpr std::size_t name_bytes_most = 255;

std::optional<std::string> objection_to_name(const lock_name&);

/// Lock store in one schema of a MySQL server.
class mysql_locks final : public lock_store {
public:
    /// Creates the store. The arguments must outlive the store and all objects that it creates.
    mysql_locks(request_context& at, poller& polls)
        : at_{at}
        , poller_{polls}
        , bells_{at} {}

    bool offers(lock_kind kind) const noexcept override { return verbs_of(kind) != nullptr; }
    limits bounds() const noexcept override {
        return {.name_bytes_max = name_bytes_most, .time_limit = at_.server.command_timeout()};
    }
    std::optional<std::string> objection_to(const lock_name& name) const override {
        return objection_to_name(name);
    }

    std::unique_ptr<place> line_up(ask want, alarm& wake) override;
    asio::awaitable<void> renew(hold_list, const renewal_options&, renewal_sink&) override;
    asio::awaitable<release_answer> release(hold) override;
    bool transfers(lock_kind) const noexcept override;
    asio::awaitable<answer> transfer(hold what, owner_id to, duration lease_time) override;
    /// Frees the user lock (GET_LOCK) of a hold that this client will not release.
    void detached(const hold& what) noexcept override { bells_.drop(what); }

    /// Returns null: a MySQL server does not notify clients of changed or deleted rows, so there is
    /// nothing to watch.
    std::unique_ptr<watch> watch_over(const hold&, revalidator&) override { return nullptr; }

private:
    request_context& at_;
    poller& poller_;
    wakeup_locks bells_;
    remote::lately_busy busy_;
};

/// Store in one schema of a MySQL server. Its `database` is the connection pool in production, and
/// a model of a server in some tests.
class mysql_store final : public store {
public:
    mysql_store(std::unique_ptr<database> server, const options& how, store_context context)
        : context_{std::move(context)}
        , server_{std::make_shared<guarded_database>(std::move(server), context_,
                                                     tables{how.table})}
        , request_context_{*server_,
                           context_,
                           tables{how.table},
                           how.schema,
                           how.table,
                           context_.announce ? written(remote::client_info_of(context_)) : ""}
        , poller_{request_context_}
        , locks_{request_context_, poller_}
        , counters_{request_context_, poller_}
        , inspector_{request_context_, poller_}
        , sweeper_{how.sweep ? std::make_shared<sweep>(request_context_) : nullptr} {
        if (sweeper_)
            sweeper_->start();
    }
    mysql_store(const mysql_store&) = delete;
    ~mysql_store() override { close(); }

    lock_store& locks() noexcept override { return locks_; }
    counter_store* counters() noexcept override { return &counters_; }
    inspector& operators_view() noexcept override { return inspector_; }
    server_identity identity(const lock_name&) const override { return server_->identity(); }
    asio::awaitable<std::vector<finding>> examine(ask trial) override {
        return examine_server(request_context_, std::move(trial));
    }
    asio::awaitable<std::vector<finding>> set_up() override {
        return make_tables(request_context_, server_->unguarded());
    }
    void close() noexcept override {
        poller_.stop();
        if (sweeper_)
            sweeper_->stop();
        server_->close();
    }

private:
    store_context context_;
    const std::shared_ptr<guarded_database> server_;
    request_context request_context_;
    poller poller_;
    mysql_locks locks_;
    mysql_counters counters_;
    row_inspector inspector_;
    const std::shared_ptr<sweep> sweeper_;
};

/// Reads all options from a URL. Throws `errc::invalid_argument` if an option is wrong.
options read_url(store_url&);

} // namespace holdfast::mysql
