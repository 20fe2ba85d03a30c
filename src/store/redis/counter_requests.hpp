// SPDX-License-Identifier: Apache-2.0
// Functions that send requests about semaphores, latches and rate limiters, one function for each
// script. Also the table of request slots (`request_slots`): in each slot, the server remembers the
// last request of a client.
#pragma once

#include "redis/node.hpp"
#include "store/redis/lock_requests.hpp"

#include <holdfast/counters.hpp>
#include <holdfast/store.hpp>

#include <boost/asio/awaitable.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast::redis {

/// A request slot and the number of a request in it. For each slot, the server remembers the last
/// request, so that a repeated request has no second effect (docs/protocol/requests.md).
struct request_slot {
    std::int64_t slot;
    std::int64_t number;
};

/// Table of the request slots of each counter. Each request that changes a counter gets a slot, and
/// keeps it until the request is over. Each next request in the same slot has a higher number. So
/// the server needs to remember only the last request of each slot, and it ignores a request that
/// arrives after a later request of the same slot. NFS 4.1 uses the same method (RFC 8881, section
/// 2.10.6). Thread safety: none; call all functions on the client's executor.
class request_slots {
public:
    /// Maximum number of requests about one counter at the same time. Other requests wait for a
    /// free slot.
    static constexpr std::size_t of_one_name_max = 1024;

    explicit request_slots(clock& time)
        : time_{time} {}

    /// Returns the slot of a request. The slot stays the same until over() is called for the
    /// request. If the counter has no free slot, waits for one. Waiting requests get slots in the
    /// order of their arrival. Throws `overloaded` if `deadline` has passed, and no other request
    /// of this counter has ended for the time `progress_timeout`. So a request does not fail
    /// because of a long queue while the server still answers.
    asio::awaitable<request_slot> take(lock_name, std::uint64_t request, time_point deadline,
                                       duration progress_timeout = {});

    /// Frees the slot of a request that will not be sent again. A copy of the request may still be
    /// on its way to the server. The server ignores this copy as soon as it has executed the next
    /// request in the slot.
    void over(const lock_name&, std::uint64_t request) noexcept;

    std::size_t count_taken(const lock_name&) const;

private:
    struct waiter {
        alarm* wake;
        bool called = false; ///< true: a slot was freed for this request
    };
    struct book {
        std::map<std::uint64_t, request_slot> requests;
        std::set<std::int64_t> slots;
        std::list<waiter> waiting;
        time_point last_end = time_point::min(); ///< when a slot was freed last

        bool is_full() const { return slots.size() >= of_one_name_max; }
        void call_next();
    };
    class place_in_line;
    using books = std::map<std::string, book>;

    request_slot assign(book&, std::uint64_t request);
    void forget_if_unused(const std::string& name);

    clock& time_;
    books names_;
    std::int64_t last_number_ = 0;
};

/// Request slot of a change, and the time for which the server remembers the change.
struct remembered {
    request_slot where;
    duration memory;
};

/// Outcome of a change of a counter, and the number of connections that were notified. The number
/// is negative if the user has no permission to publish.
struct changed {
    attempt seen;
    counter_answer what;
    std::int64_t receivers = 0;
};

// The arguments of these functions must live until the request has completed.

asio::awaitable<attempt> take_permits(node&, const counter_ask&, remembered, server_deadline);
asio::awaitable<released> revoke_permits(node&, const counter_ask&, remembered);
asio::awaitable<attempt> look_at_latch(node&, const counter_ask&);
asio::awaitable<changed> change_counter(node&, const counter_change&, remembered, server_deadline);
asio::awaitable<counter_state> inspect_counter(node&, const lock_name&, counter_kind);

/// Returns the name of the operation that the scripts expect as an argument.
std::string_view word_of(counter_verb);
/// Returns the outcome of a change, from the reply of its script.
changed changed_in(const reply&);

/// Returns the channel of a counter's change notifications.
channel_name channel_of(const lock_name&, counter_kind);

// Requests about leased semaphores: functions that take, renew and return permits, and functions
// that change or read the number of permits.

// The comments on the members of `verbs` explain these functions.
asio::awaitable<attempt> lease_permits(node&, const ask&, server_deadline);
asio::awaitable<released> return_permits(node&, const hold&);
asio::awaitable<renewed_holds> renew_permits(node&, std::optional<shard> at, hold_list,
                                             const renewal_options&);

// These two functions do for leased semaphores what change_counter() and inspect_counter() do for
// other counters. The arguments must live until the request has completed.
asio::awaitable<changed> change_permits(node&, const counter_change&, remembered, server_deadline);
asio::awaitable<counter_state> inspect_permits(node&, const lock_name&);

// Requests about rate limiters.

/// Returns the entry of a sorted set that records which permits one request took from a rate
/// limiter. The entry contains the client, the number of the request, and the number of permits.
/// While the entry is in the set, a repetition of the request takes no more permits.
std::string rate_member(const owner_id& request, std::int64_t permits, redisson_form);

// The arguments of these functions must live until the request has completed.

/// Takes permits from a rate limiter. `memory` is the time for which the server remembers the
/// request. The wait for replicas is at most a third of `memory`.
asio::awaitable<attempt> take_rate(node&, const counter_ask&, duration memory, server_deadline);
asio::awaitable<released> give_back_rate(node&, const counter_ask&);
asio::awaitable<changed> change_rate(node&, const counter_change&, remembered, server_deadline);
asio::awaitable<counter_state> inspect_rate(node&, const lock_name&,
                                            const std::array<std::uint8_t, 16>& client);

} // namespace holdfast::redis
