// SPDX-License-Identifier: Apache-2.0
// An operation of a simulated program. The ledger lists it while it runs, and the checkers check it
// at its end. It may be cancelled at a given step or time.
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

    /// Returns a completion token for a `co_await` that does not throw and can be cancelled.
    auto token() const {
        return asio::bind_cancellation_slot(signal_->slot(), asio::as_tuple(asio::use_awaitable));
    }

    /// Returns a handler that can be cancelled and calls `handler`.
    template <typename Handler>
    auto bind(Handler handler) const {
        return asio::bind_cancellation_slot(signal_->slot(), std::move(handler));
    }

    /// Records the end of the operation. `got` is false if it returned no result.
    outcome ended(const error_code&, bool got = true);
    /// records the end of the operation, which returned `amount`
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

/// Lease that a caller has. The ledger lists it as long as the object exists.
class grip {
public:
    grip(world&, subject, lease, duration longest, taken_by = taken_by::acquisition,
         std::string beside = {}, unsigned replicas = 0);
    grip(const grip&) = delete;
    ~grip(); ///< also destroys the lease, unless take_out() was called

    claim& what() { return *claim_; }
    bool empty() const { return !claim_; }
    /// returns the lease, to be released; the caller must no longer rely on it
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
    std::optional<duration> fixed{}; ///< lease time, if the lease shall not be renewed
    std::optional<duration> usual{}; ///< lease time of the lock object, if it has its own
    bool reads = false;
    unsigned replicas = 0; ///< number of replicas that the lock object requires
};

/// Acquires the lock. Returns null if it was not granted. The lock object may be destroyed during
/// the call.
asio::awaitable<std::unique_ptr<grip>> acquire(world&, subject, int generation, basic_mutex&,
                                               wanted, cancellation = {});
asio::awaitable<outcome> release(world&, grip&, int generation, cancellation = {});

// Begin an acquisition or release whose completion handler throws. The handler calls `over` first.
void blunder_into(world&, subject, int generation, basic_mutex&, wanted, cancellation,
                  std::function<void()> over);
void blunder_out_of(world&, grip&, int generation, std::function<void()> over);

} // namespace holdfast::sim
