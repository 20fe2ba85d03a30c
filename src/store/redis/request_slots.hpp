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

/// The place where the server remembers a request, and the request's number there
/// (docs/protocol/requests.md).
struct request_slot {
    std::int64_t slot;
    std::int64_t number;
};

/// Gives each request of this client that changes a counter a slot of that counter, as an NFS
/// client does (RFC 8881, section 2.10.6). A request has its slot for itself until it is over. The
/// numbers in a slot only grow. So the server remembers one request for each slot, and a request
/// that arrives after a later request in its slot does nothing. Thread safety: none; call
/// everything on the client's executor.
class request_slots {
public:
    /// Largest number of requests about one counter at the same time. Further requests wait.
    static constexpr std::size_t of_one_name_max = 1024;

    explicit request_slots(clock& time)
        : time_{time} {}

    /// Returns the slot of a request: always the same one until the request is over. Waits while
    /// all slots of the name are taken, in the order of arrival. Throws `overloaded` if none is
    /// free at `deadline`.
    asio::awaitable<request_slot> take(lock_name, std::uint64_t request, time_point deadline);

    /// Frees the slot of a request that nobody will send again. A copy that is still on its way to
    /// the server does nothing once the next request in the slot has been carried out.
    void over(const lock_name&, std::uint64_t request) noexcept;

    std::size_t count_taken(const lock_name&) const;

private:
    struct waiter {
        alarm* wake;
        bool called = false; ///< a slot was freed for this request
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
