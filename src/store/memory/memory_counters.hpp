// SPDX-License-Identifier: Apache-2.0
// Counter store of one client, on a server in the same process.
#pragma once

#include "store/memory/ear.hpp"
#include "store/memory/link.hpp"
#include "store/remote/attempts.hpp"

#include <holdfast/counters.hpp>

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace holdfast::memory {

/// Returns why the name is not allowed: it is empty or too long. Returns an empty result if the
/// name is allowed.
std::optional<std::string> objection_to_name(const lock_name&);

class memory_counters final : public counter_store {
public:
    /// `context` must outlive this object and every place.
    memory_counters(std::shared_ptr<link> way, const store_context& context)
        : link_{std::move(way)}
        , context_{context} {}

    bool offers(counter_kind kind) const noexcept override { return server::state::keeps(kind); }
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

    std::shared_ptr<link> link_;
    const store_context& context_;
};

/// Waiter for a counter. It keeps the subscription and the state of the attempts of one request.
class counter_place final : public place {
public:
    /// `context` and `wake` must outlive this object.
    counter_place(std::shared_ptr<link>, const store_context& context, counter_ask, alarm& wake);

    asio::awaitable<answer> look() override;
    asio::awaitable<void> leave() override;

    bool must_leave() const noexcept override { return takes() && attempts_.must_leave(); }
    bool uncertain() const noexcept override { return takes() && attempts_.uncertain(); }
    time_point settled_at() const noexcept override { return attempts_.settled_at(); }

private:
    bool takes() const noexcept { return want_.kind != counter_kind::latch; }
    /// Returns whether waiters are notified. Waiters of a rate limiter are not; the reply tells
    /// them when to ask again.
    bool is_told() const noexcept { return want_.kind != counter_kind::rate; }
    asio::awaitable<remote::attempt> request(time_point deadline);
    void listen();

    std::shared_ptr<link> link_;
    const store_context& context_;
    const counter_ask want_;
    const ask in_time_; ///< the same request as `want_`, in the form that `attempts_` needs
    alarm& wake_;
    remote::attempts attempts_;
    std::unique_ptr<ear> ear_;
};

} // namespace holdfast::memory
