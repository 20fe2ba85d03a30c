// SPDX-License-Identifier: Apache-2.0
// One operation that a simulated program has under way: entered in the books, checked at its end,
// and cancelled whenever the plot wants it.
#pragma once

#include "sim/inspection.hpp"
#include "sim/world.hpp"

#include <holdfast/basic_mutex.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace holdfast::sim {

/// When an operation is cancelled, and how.
struct cancellation {
    std::optional<std::size_t> after_steps{};
    std::optional<duration> after{};
    asio::cancellation_type type = asio::cancellation_type::terminal;
};

class ongoing {
public:
    ongoing(world&, operation, cancellation = {});
    ongoing(const ongoing&) = delete;
    ~ongoing();

    /// For a `co_await` that does not throw and can be cancelled.
    auto token() const {
        return asio::bind_cancellation_slot(signal_->slot(), asio::as_tuple(asio::use_awaitable));
    }

    /// The same for a handler.
    template <typename Handler>
    auto bind(Handler handler) const {
        return asio::bind_cancellation_slot(signal_->slot(), std::move(handler));
    }

    /// `got`: what an operation that answers something has got.
    outcome ended(const error_code&, bool got = true);
    outcome ended_with(const error_code&, std::int64_t amount); ///< so many it has got
    const operation& what() const { return what_; }

private:
    void cancel(asio::cancellation_type);

    world& world_;
    const operation what_;
    const std::uint64_t id_;
    std::shared_ptr<asio::cancellation_signal> signal_;
    bool ended_ = false;
};

enum class taken_by { acquisition, re_entry };

/// What somebody has taken: a lease, in the books as long as it is in his hands.
class grip {
public:
    grip(world&, subject, lease, duration longest, taken_by = taken_by::acquisition,
         std::string beside = {}, unsigned replicas = 0);
    grip(const grip&) = delete;
    ~grip(); ///< drops the lease, if it still has it

    claim& what() { return *claim_; }
    bool empty() const { return !claim_; }
    lease take_out(); ///< to release it: from now on it is not believed

private:
    void strike_out();

    world& world_;
    std::unique_ptr<claim> claim_;
};

/// How an acquisition is wished for.
struct wanted {
    deed how = deed::lock;
    duration patience = duration::max();
    std::optional<duration> fixed{}; ///< a lease that is not renewed
    std::optional<duration> usual{}; ///< the lock object's own lease time, if it has one
    bool reads = false;
    unsigned replicas = 0; ///< that the lock object requires
};

/// The result is empty unless it was granted. The lock may be destroyed when it has begun.
asio::awaitable<std::unique_ptr<grip>> acquire(world&, subject, int generation, basic_mutex&,
                                               wanted, cancellation = {});
asio::awaitable<outcome> release(world&, grip&, int generation, cancellation = {});

// The same with a handler that throws. Begun, and not waited for; `over` is called before it
// throws.
void blunder_into(world&, subject, int generation, basic_mutex&, wanted, cancellation,
                  std::function<void()> over);
void blunder_out_of(world&, grip&, int generation, std::function<void()> over);

} // namespace holdfast::sim
