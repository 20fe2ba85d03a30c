// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/store.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace holdfast::redis {

/// Where the server remembers a request, and under which number (docs/protocol/requests.md).
struct request_slot {
    std::int64_t slot;
    std::int64_t number;
};

/// The requests of this client that change counters, as an NFS client numbers its own: each has a
/// slot of its name for itself while it may come again, and the numbers in a slot only grow. So the
/// server has to remember one request for each slot, and no more slots than requests are under way.
/// Thread safety: none; the client's executor.
class request_slots {
public:
    static constexpr std::size_t of_one_name_max = 1024;

    /// The same for the same request until it is over. Throws `overloaded`.
    request_slot of(const lock_name&, std::uint64_t request, time_point now);

    /// It was answered, or nothing of it can be under way.
    void over(const lock_name&, std::uint64_t request);

    /// It may have been carried out, and may come again until then.
    void keep(const lock_name&, std::uint64_t request, time_point until);

    std::size_t under_way(const lock_name&) const;

private:
    struct ticket {
        request_slot where;
        time_point until = time_point::max();
    };
    struct book {
        std::map<std::uint64_t, ticket> requests;
        std::set<std::int64_t> slots;
    };

    static void forget_the_old(book&, time_point now);

    std::map<std::string, book> names_;
    std::int64_t last_number_ = 0;
};

} // namespace holdfast::redis
