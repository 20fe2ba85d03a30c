// SPDX-License-Identifier: Apache-2.0
// Functions that send requests about semaphores, latches and rate limiters, one function for each
// script. Also the slots in which a server remembers the requests of a client (`request_slots`).
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

/// Slot in which the server remembers a request, and the number of the request in that slot
/// (docs/protocol/requests.md).
struct request_slot {
    std::int64_t slot;
    std::int64_t number;
};

/// Table of the slots of each counter. Each request that changes a counter gets a slot, as requests
/// of NFS clients do (RFC 8881, section 2.10.6). No other request uses the slot until the request
/// is over. The numbers in a slot only grow. So the server needs to remember only one request for
/// each slot, and it ignores a request that arrives after a later request of the same slot. Thread
/// safety: none; call all functions on the client's executor.
class request_slots {
public:
    /// Maximum number of requests about one counter at the same time. Further requests wait.
    static constexpr std::size_t of_one_name_max = 1024;

    explicit request_slots(clock& time)
        : time_{time} {}

    /// Returns the slot of a request. The slot stays the same until the request is over. If the
    /// counter has no free slot, waits for one; requests get free slots in the order of their
    /// arrival. Throws `overloaded` if there is no free slot at `deadline`. A request that must not
    /// fail while the server answers waits longer: until no other request of this counter has ended
    /// for the time `progress_timeout`.
    asio::awaitable<request_slot> take(lock_name, std::uint64_t request, time_point deadline,
                                       duration progress_timeout = {});

    /// Frees the slot of a request that will not be sent again. If a copy of the request is still
    /// on its way, the server ignores this copy as soon as it has executed the next request in the
    /// slot.
    void over(const lock_name&, std::uint64_t request) noexcept;

    std::size_t count_taken(const lock_name&) const;

private:
    struct waiter {
        alarm* wake;
        bool called = false; ///< whether a slot was freed for this request
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

/// Slot in which the server remembers a request, and the time for which it remembers the request.
struct remembered {
    request_slot where;
    duration memory;
};

/// Outcome of a change of a counter, and the number of connections that were notified. The number
/// is negative if the user has no permission to publish notifications.
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

/// Returns the word that names the operation in the arguments of scripts.
std::string_view word_of(counter_verb);
/// Returns the outcome of a change, from the reply of its script.
changed changed_in(const reply&);

/// Returns the channel of a counter's change notifications.
channel_name channel_of(const lock_name&, counter_kind);

// Requests about leased semaphores. Some of them take, renew and return permits; the others change
// or read the number of permits.

// `verbs` has a pointer to each of these functions, and a comment that explains it.
asio::awaitable<attempt> lease_permits(node&, const ask&, server_deadline);
asio::awaitable<released> return_permits(node&, const hold&);
asio::awaitable<renewed_holds> renew_permits(node&, std::optional<shard> at, hold_list,
                                             const renewal_options&);

// change_permits() and inspect_permits() do for leased permits what change_counter() and
// inspect_counter() do for other counters. The arguments must live until the request has completed.
asio::awaitable<changed> change_permits(node&, const counter_change&, remembered, server_deadline);
asio::awaitable<counter_state> inspect_permits(node&, const lock_name&);

// Requests about rate limiters.

/// Returns the member of a sorted set that represents one draw (permits taken by one request to a
/// rate limiter). The member contains the client, a number, and the number of permits. While the
/// member is in the set, a repeated request takes no more permits.
std::string rate_member(const owner_id& request, std::int64_t permits, redisson_form);

// The arguments of these functions must live until the request has completed.

/// Takes permits from a rate limiter. `memory` is the time for which the server remembers the
/// request. It also limits the wait for replicas.
asio::awaitable<attempt> take_rate(node&, const counter_ask&, duration memory, server_deadline);
asio::awaitable<released> give_back_rate(node&, const counter_ask&);
asio::awaitable<changed> change_rate(node&, const counter_change&, remembered, server_deadline);
asio::awaitable<counter_state> inspect_rate(node&, const lock_name&,
                                            const std::array<std::uint8_t, 16>& client);

} // namespace holdfast::redis
