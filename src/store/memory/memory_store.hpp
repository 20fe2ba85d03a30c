// SPDX-License-Identifier: Apache-2.0
// Store of one client, on a server in the same process: the lock store, the counter store and the
// inspector. Also the waiters for locks and for counters.
#pragma once

#include "store/memory/connection.hpp"
#include "store/remote/attempts.hpp"

#include <holdfast/counters.hpp>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::memory {

/// Returns why the name is not allowed: the name is empty or too long. If the name is allowed, the
/// result is empty.
std::optional<std::string> objection_to_name(const lock_name&);

class memory_counters final : public counter_store {
public:
    /// Creates the store. `context` must outlive the store and all its waiters.
    memory_counters(std::shared_ptr<server_connection> way, const store_context& context)
        : server_connection_{std::move(way)}
        , context_{context} {}

    bool offers(counter_kind kind) const noexcept override { return server_state::keeps(kind); }
    std::optional<std::string> objection_to(const lock_name& name, counter_kind) const override {
        return objection_to_name(name);
    }
    std::unique_ptr<place> line_up(counter_ask, alarm& wake) override;
    asio::awaitable<counter_answer> change(counter_change) override;
    asio::awaitable<counter_list> list(counter_kind, std::string pattern,
                                       std::size_t limit) override;
    asio::awaitable<counter_state> inspect(lock_name, counter_kind) override;
    duration memory() const noexcept override { return context_.request_memory; }

private:
    asio::awaitable<remote::attempt> change_by(time_point deadline, const counter_change&,
                                               counter_answer& outcome);

    std::shared_ptr<server_connection> server_connection_;
    const store_context& context_;
};

/// Waiter for a counter. It has the subscription to the counter, and the state of one request's
/// attempts.
class counter_place final : public place {
public:
    /// Creates the waiter. `context` and `wake` must outlive it.
    counter_place(std::shared_ptr<server_connection>, const store_context& context, counter_ask,
                  alarm& wake);

    asio::awaitable<answer> look() override;
    asio::awaitable<void> leave() override;

    bool must_leave() const noexcept override { return takes() && attempts_.must_leave(); }
    bool uncertain() const noexcept override { return takes() && attempts_.uncertain(); }
    time_point settled_at() const noexcept override { return attempts_.settled_at(); }

private:
    bool takes() const noexcept { return want_.kind != counter_kind::latch; }
    /// Returns whether waiters are notified. Waiters of a rate limiter are not notified, because
    /// the reply says when to ask again.
    bool is_told() const noexcept { return want_.kind != counter_kind::rate; }
    asio::awaitable<remote::attempt> request(time_point deadline);
    remote::attempt attempt_from(reply<count_verdict>) const;
    void listen();

    std::shared_ptr<server_connection> server_connection_;
    const store_context& context_;
    const counter_ask want_;
    const ask in_time_; ///< copy of `want_` in the form that `attempts_` needs
    alarm& wake_;
    remote::attempts attempts_;
    std::unique_ptr<subscriber> subscriber_;
};

class memory_locks final : public lock_store {
public:
    /// Creates the store. `context` must outlive the store and all its waiters.
    memory_locks(std::shared_ptr<server_connection> way, const store_context& context)
        : server_connection_{std::move(way)}
        , context_{context}
        , orphans_{std::make_shared<orphans>(server_connection_, context_)} {}

    bool offers(lock_kind kind) const noexcept override { return server_state::keeps(kind); }
    limits bounds() const noexcept override {
        const bool by_session = server_connection_->is_by_session();
        return {.time_limit = server_connection_->command_timeout(),
                .by_session = by_session,
                .replicas_max = by_session ? std::uint8_t{0} : replicas_max,
                .read_request_max = by_session ? duration::max() : remote::read_request_max};
    }
    std::optional<std::string> objection_to(const lock_name&) const override;

    std::unique_ptr<place> line_up(ask, alarm& wake) override;
    asio::awaitable<void> renew(hold_list, const renewal_options&, renewal_sink&) override;
    asio::awaitable<release_answer> release(hold) override;
    bool transfers(lock_kind kind) const noexcept override {
        return !server_connection_->is_by_session() && server_state::transfers(kind);
    }
    asio::awaitable<answer> transfer(hold what, owner_id to, duration lease_time) override;
    std::unique_ptr<watch> watch_over(const hold&, revalidator&) override { return nullptr; }

private:
    static constexpr std::uint8_t replicas_max = 100;

    asio::awaitable<remote::attempt> transfer_by(time_point deadline, const hold& what,
                                                 const ask& wanted);

    std::shared_ptr<server_connection> server_connection_;
    const store_context& context_;
    std::shared_ptr<orphans> orphans_;
};

class memory_inspector final : public inspector {
public:
    /// `context` must outlive this object.
    memory_inspector(std::shared_ptr<server_connection> way, const store_context& context)
        : server_connection_{std::move(way)}
        , context_{context} {}

    asio::awaitable<std::optional<holding>> inspect(lock_name) override;
    asio::awaitable<forced> force_release(lock_name, std::string only_from) override;
    asio::awaitable<std::uint64_t> last_token(lock_name) override;
    asio::awaitable<forced> force_kind(lock_name, lock_kind) override;
    asio::awaitable<std::optional<lock_state>> describe(lock_name) override;
    asio::awaitable<lock_list> list(std::string pattern, std::size_t limit) override;
    asio::awaitable<std::unique_ptr<watch>> listen(lock_name, alarm& wake) override;

private:
    asio::awaitable<forced> force(lock_name, std::string only_from, std::optional<lock_kind> kind);
    asio::awaitable<remote::attempt> force_by(time_point deadline, const lock_name&,
                                              const std::string& only_from,
                                              std::optional<lock_kind> kind, forced& outcome);

    std::shared_ptr<server_connection> server_connection_;
    const store_context& context_;
};

class memory_wishes final : public wish_store {
public:
    /// `context` must outlive this object.
    memory_wishes(std::shared_ptr<server_connection> way, const store_context& context)
        : server_connection_{std::move(way)}
        , context_{context} {}

    asio::awaitable<std::vector<std::string>> ask_holders(lock_name, wish, duration kept) override;
    asio::awaitable<std::optional<wish>> wish_for(hold) override;
    asio::awaitable<std::unique_ptr<watch>> hear_wishes(hold, alarm& wake) override;

private:
    std::shared_ptr<server_connection> server_connection_;
    const store_context& context_;
};

class memory_store final : public store {
public:
    memory_store(store_context context, std::shared_ptr<server_connection> way)
        : context_{std::move(context)}
        , server_connection_{std::move(way)}
        , locks_{server_connection_, context_}
        , counters_{server_connection_, context_}
        , inspector_{server_connection_, context_}
        , wishes_{server_connection_, context_} {}
    ~memory_store() override { server_connection_->close(); }

    lock_store& locks() noexcept override { return locks_; }
    counter_store* counters() noexcept override { return &counters_; }
    inspector& operators_view() noexcept override { return inspector_; }
    wish_store* wishes() noexcept override { return &wishes_; }
    asio::awaitable<std::vector<finding>> examine(ask trial) override;
    void close() noexcept override { server_connection_->close(); }
    server_identity identity(const lock_name&) const override {
        return server_connection_->identity();
    }

private:
    store_context context_;
    std::shared_ptr<server_connection> server_connection_;
    memory_locks locks_;
    memory_counters counters_;
    memory_inspector inspector_;
    memory_wishes wishes_;
};

/// Waiter for one lock of any kind. It has the subscription to the lock, and the state of one
/// owner's attempts.
class lock_place final : public place {
public:
    /// Creates the waiter. `context` and `wake` must outlive it.
    lock_place(std::shared_ptr<server_connection>, const store_context& context,
               std::shared_ptr<orphans>, ask, alarm& wake);

    asio::awaitable<answer> look() override;
    asio::awaitable<void> leave() override;

    bool must_leave() const noexcept override { return attempts_.must_leave(); }
    bool uncertain() const noexcept override { return attempts_.uncertain(); }
    time_point settled_at() const noexcept override { return attempts_.settled_at(); }

private:
    asio::awaitable<remote::attempt> request(time_point deadline);
    remote::attempt attempt_from(reply<verdict_on_look>);
    void listen();

    std::shared_ptr<server_connection> server_connection_;
    const store_context& context_;
    std::shared_ptr<orphans> orphans_;
    ask want_;
    alarm& wake_;
    const bool is_told_;
    remote::attempts attempts_;
    std::unique_ptr<subscriber> subscriber_;
    duration round_trip_{};
};

} // namespace holdfast::memory
