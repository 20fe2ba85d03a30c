// SPDX-License-Identifier: Apache-2.0
// One operation of a simulated program in progress: it is entered in the ledger, checked at its
// end, and cancelled when the plot says so.
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

/// Time and type of the cancellation of an operation.
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

    /// Returns a token for a `co_await`. The `co_await` does not throw, and it can be cancelled.
    auto token() const {
        return asio::bind_cancellation_slot(signal_->slot(), asio::as_tuple(asio::use_awaitable));
    }

    /// Returns a handler that can be cancelled and calls `handler`.
    template <typename Handler>
    auto bind(Handler handler) const {
        return asio::bind_cancellation_slot(signal_->slot(), std::move(handler));
    }

    /// Ends the operation. `got` says whether an operation with a result has returned a result.
    outcome ended(const error_code&, bool got = true);
    /// ends the operation; `amount` is the number that it returned
    outcome ended_with(const error_code&, std::int64_t amount);
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

/// A caller's lease (`grip`). It is in the ledger as long as the caller has it.
class grip {
public:
    grip(world&, subject, lease, duration longest, taken_by = taken_by::acquisition,
         std::string beside = {}, unsigned replicas = 0);
    grip(const grip&) = delete;
    ~grip(); ///< destroys the lease if the caller still has it

    claim& what() { return *claim_; }
    bool empty() const { return !claim_; }
    /// returns the lease for its release; from then on the caller does not rely on it
    lease take_out();

private:
    void strike_out();

    world& world_;
    std::unique_ptr<claim> claim_;
};

/// Options of an acquisition.
struct wanted {
    deed how = deed::lock;
    duration timeout = duration::max();
    std::optional<duration> fixed{}; ///< lease time of a lease that is not renewed
    std::optional<duration> usual{}; ///< lease time of the lock object, if it has its own
    bool reads = false;
    unsigned replicas = 0; ///< number of replicas that the lock object requires
};

/// Acquires the lock. Returns null if the lock was not granted. The lock object may be destroyed as
/// soon as the call has begun.
asio::awaitable<std::unique_ptr<grip>> acquire(world&, subject, int generation, basic_mutex&,
                                               wanted, cancellation = {});
asio::awaitable<outcome> release(world&, grip&, int generation, cancellation = {});

// The next functions do the same with a handler that throws. They begin the operation and do not
// wait for its end. `over` is called before the handler throws.
void blunder_into(world&, subject, int generation, basic_mutex&, wanted, cancellation,
                  std::function<void()> over);
void blunder_out_of(world&, grip&, int generation, std::function<void()> over);

} // namespace holdfast::sim
