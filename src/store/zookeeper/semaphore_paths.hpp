// SPDX-License-Identifier: Apache-2.0
// Curator's InterProcessSemaphoreV2: whoever has the mutex below `locks` may add to `leases`.
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
        itself; ///< its data is how many permits there are; Curator keeps that in each client
    std::string locks;
    std::string leases;
};

/// Nothing: it is not known, as of Curator's own.
std::optional<std::int64_t> capacity_in(std::string_view data);

/// Which request set it, and to what.
std::string capacity_data(std::int64_t permits, const owner_id& request);
bool was_set_by(std::string_view data, const owner_id& request);

/// The capacity of that semaphore; nothing: it has none yet.
asio::awaitable<std::optional<std::int64_t>> read_capacity(household&, const semaphore_paths&);

/// Throws `store_errc::wrong_type` if a lock has the path.
asio::awaitable<void> refuse_lock(household&, const semaphore_paths&);

} // namespace holdfast::zookeeper
