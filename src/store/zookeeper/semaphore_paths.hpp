// SPDX-License-Identifier: Apache-2.0
// Paths of Curator's InterProcessSemaphoreV2: the holder of the mutex below `locks` may add nodes
// to `leases`.
#pragma once

#include "store/zookeeper/household.hpp"

#include <holdfast/store.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::zookeeper {

struct semaphore_paths {
    semaphore_paths(const paths& where, const lock_name& name)
        : itself{where.of(name)}
        , locks{below(itself, "locks")}
        , leases{below(itself, "leases")} {}
    std::string
        /// Node that stores the total number of permits. Curator does not store the total on the
        /// server; each Curator client has its own copy.
        itself;
    std::string locks;
    std::string leases;
};

/// Parses the total number of permits. Empty: not set, as in a semaphore that Curator made.
std::optional<std::int64_t> capacity_in(std::string_view data);

/// Make and check the node's data: the total, and the id of the request that set the total.
std::string capacity_data(std::int64_t permits, const owner_id& request);
bool was_set_by(std::string_view data, const owner_id& request);

/// Reads the total number of permits from the server. Empty: not set yet.
asio::awaitable<std::optional<std::int64_t>> read_capacity(household&, const semaphore_paths&);

/// Throws `store_errc::wrong_type` if a lock uses the path.
asio::awaitable<void> refuse_lock(household&, const semaphore_paths&);

} // namespace holdfast::zookeeper
