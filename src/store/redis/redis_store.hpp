// SPDX-License-Identifier: Apache-2.0
// The Redis store: its lock store, its counter store, its inspector, and the check of the options.
#pragma once

#include "redis/node.hpp"
#include "store/redis/client_info.hpp"
#include "store/redis/counter_requests.hpp"
#include "store/redis/doctor.hpp"
#include "store/redis/inspector.hpp"
#include "store/redis/lock_requests.hpp"
#include "store/redis/replies.hpp"
#include "store/redis/waiting.hpp"
#include "store/redis/wishes.hpp"
#include "store/remote/attempts.hpp"

#include <holdfast/counters.hpp>
#include <holdfast/redis/options.hpp>
#include <holdfast/store.hpp>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::redis {

/// Checks the options, and returns them. Shortens the default of `replica_timeout` if the other
/// options require this. If an option is wrong, throws `errc::invalid_argument`; the text names the
/// option. Reads the TLS files, but sends nothing.
options checked(options);

/// Lock store on Redis that uses the same keys as Redisson. docs/protocol names the script of each
/// function.
class redis_locks final : public lock_store {
public:
    /// Creates the store. All arguments must outlive this object and all objects that it creates.
    /// If `presence` is null, the client writes no description of itself to the server.
    redis_locks(node& server, const store_context& context, presence_refresh* presence = nullptr)
        : server_{server}
        , context_{context}
        , missing_permissions_{server, context}
        , timeout_{context, server.fair_wait()}
        , presence_{presence} {}

    bool offers(lock_kind kind) const noexcept override { return verbs_of(kind) != nullptr; }
    limits bounds() const noexcept override {
        return {.time_limit = server_.command_timeout(),
                .replicas_max = replicas_most,
                .read_request_max = remote::read_request_max,
                .usual_outage = server_.usual_outage()};
    }
    std::optional<std::string> objection_to(const lock_name& name) const override;

    std::unique_ptr<place> line_up(ask want, alarm& wake) override;
    asio::awaitable<void> renew(hold_list, const renewal_options&, renewal_sink&) override;
    asio::awaitable<release_answer> release(hold) override;
    bool transfers(lock_kind) const noexcept override;
    asio::awaitable<answer> transfer(hold what, owner_id to, duration lease_time) override;

    /// Returns null: a Redis server does not report that a key expired or was evicted, so there is
    /// nothing to watch.
    std::unique_ptr<watch> watch_over(const hold&, revalidator&) override { return nullptr; }

private:
    /// Maximum value for the number of replicas that must confirm a grant. No primary has so many
    /// replicas.
    static constexpr std::uint8_t replicas_most = 100;

    bool others_listen(const hold&, const released&) const;
    asio::awaitable<attempt> transfer_by(time_point deadline, const hold& what, const ask& wanted);

    node& server_;
    const store_context& context_;
    missing_permissions missing_permissions_;
    fair_timeout timeout_;
    remote::lately_busy busy_;
    presence_refresh* const presence_;
};

/// Counter store on Redis: semaphores, latches and rate limiters, under the keys of Redisson.
/// Additional keys record which requests of this client were executed (docs/protocol/requests.md).
class redis_counters final : public counter_store {
public:
    /// Creates the store. Both arguments must outlive this object and all objects that it creates.
    redis_counters(node& server, const store_context& context)
        : server_{server}
        , context_{context}
        , missing_permissions_{server, context}
        , slots_{context.time} {}

    bool offers(counter_kind) const noexcept override { return true; }
    std::optional<std::string> objection_to(const lock_name& name, counter_kind) const override;
    std::unique_ptr<place> line_up(counter_ask, alarm& wake) override;
    asio::awaitable<counter_answer> change(counter_change) override;
    void end_change(const lock_name&, const owner_id& request) noexcept override;
    asio::awaitable<counter_list> list(counter_kind, std::string pattern,
                                       std::size_t limit) override;
    asio::awaitable<counter_state> inspect(lock_name, counter_kind) override;
    duration memory() const noexcept override { return context_.request_memory; }

private:
    asio::awaitable<counter_answer> change_in_time(const counter_change&, request_slot);

    node& server_;
    const store_context& context_;
    missing_permissions missing_permissions_;
    request_slots slots_;
};

/// Store on Redis. It sends its requests to a `node`. In production, the node is a set of
/// connections to servers. In some tests, the node is a model of a server.
class redis_store final : public store {
public:
    redis_store(std::unique_ptr<node> server, store_context context)
        : context_{std::move(context)}
        , server_{std::move(server)}
        , presence_{context_.announce ? std::make_shared<presence_refresh>(*server_, context_)
                                      : nullptr}
        , locks_{*server_, context_, presence_.get()}
        , counters_{*server_, context_}
        , inspector_{*server_, context_}
        , wishes_{*server_, context_} {}
    redis_store(const redis_store&) = delete;
    ~redis_store() override { close(); }

    lock_store& locks() noexcept override { return locks_; }
    counter_store* counters() noexcept override { return &counters_; }
    inspector& operators_view() noexcept override { return inspector_; }
    wish_store* wishes() noexcept override { return &wishes_; }
    server_identity identity(const lock_name& name) const override {
        return server_->identity(name.text);
    }
    asio::awaitable<std::vector<finding>> examine(ask trial) override {
        return examine_server(*server_, context_, std::move(trial));
    }
    asio::awaitable<void> depart() override {
        if (presence_)
            co_await presence_->end();
    }
    void close() noexcept override {
        if (presence_)
            presence_->stop();
        server_->close();
    }

private:
    store_context context_;
    std::unique_ptr<node> server_;
    const std::shared_ptr<presence_refresh> presence_;
    redis_locks locks_;
    redis_counters counters_;
    lock_inspector inspector_;
    redis_wishes wishes_;
};

} // namespace holdfast::redis
