// SPDX-License-Identifier: Apache-2.0
// An operation of a simulated program on several locks, and its result.
#pragma once

#include "sim/checkers/several.hpp"
#include "sim/ongoing.hpp"
#include "sim/several/realm.hpp"

#include <holdfast/multi_mutex.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <memory>
#include <optional>

namespace holdfast::sim::several {

class under_way {
public:
    under_way(realm&, deal, cancellation = {});
    under_way(const under_way&) = delete;
    ~under_way();

    /// Returns a completion token for a `co_await` that does not throw and can be cancelled.
    auto token() const {
        return asio::bind_cancellation_slot(signal_->slot(), asio::as_tuple(asio::use_awaitable));
    }
    outcome ended(const error_code&, bool got = true);
    const deal& what() const { return what_; }

private:
    realm& realm_;
    const deal what_;
    const std::uint64_t id_;
    std::shared_ptr<asio::cancellation_signal> signal_ =
        std::make_shared<asio::cancellation_signal>();
    bool ended_ = false;
};

/// Lease that a caller has. The ledger lists it as long as the object exists.
class hands {
public:
    hands(realm&, const deal&, lease, duration longest);
    hands(const hands&) = delete;
    ~hands(); ///< also destroys the lease, unless take_out() was called

    claim& what() { return *claim_; }
    bool empty() const { return !claim_; }
    /// returns the lease, to be released; the caller must no longer rely on it
    lease take_out();

private:
    void strike_out();

    realm& realm_;
    std::unique_ptr<claim> claim_;
};

/// Returns the generation of the program's current client for each server.
std::vector<int> generations_of(const realm&, int program);
/// Returns a new operation on the locks of this lease.
deal deal_about(const claim&, deed);

/// Acquires the locks. Returns null if they were not granted.
asio::awaitable<std::unique_ptr<hands>> acquire(realm&, deal, basic_mutex&,
                                                std::optional<duration> fixed, cancellation = {});
asio::awaitable<std::unique_ptr<hands>> acquire_any(realm&, deal, multi_mutex&, cancellation = {});
asio::awaitable<outcome> release(realm&, hands&, cancellation = {});
asio::awaitable<outcome> extend(realm&, hands&, duration length, cancellation = {});

} // namespace holdfast::sim::several
