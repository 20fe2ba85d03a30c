// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/store.hpp>

#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <set>
#include <string>

namespace holdfast::redis {

/// Slot in which the server remembers a request, and the number of the request in that slot
/// (docs/protocol/requests.md).
struct request_slot {
    std::int64_t slot;
    std::int64_t number;
};

/// Gives each request that changes a counter a slot of that counter. NFS clients have the same kind
/// of slots (RFC 8881, section 2.10.6). No other request uses the slot until the request is over.
/// The numbers in a slot only grow. Therefore the server needs to remember only one request for
/// each slot. It ignores a request that arrives after a later request of the same slot. Thread
/// safety: none; call everything on the client's executor.
class request_slots {
public:
    /// Maximum number of requests about one counter at the same time. Further requests wait.
    static constexpr std::size_t of_one_name_max = 1024;

    explicit request_slots(clock& time)
        : time_{time} {}

    /// Returns the slot of a request. The slot stays the same until the request is over. If all
    /// slots of the counter are taken, waits for a free slot; requests get free slots in the order
    /// of arrival. Throws `overloaded` if there is no free slot at `deadline`.
    asio::awaitable<request_slot> take(lock_name, std::uint64_t request, time_point deadline);

    /// Frees the slot of a request that will not be sent again. A copy of the request may still be
    /// on its way to the server. The server ignores the copy after it has carried out the next
    /// request in the slot.
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

} // namespace holdfast::redis
