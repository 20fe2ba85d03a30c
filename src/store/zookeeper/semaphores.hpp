// SPDX-License-Identifier: Apache-2.0
// Leased semaphores in the format of Curator's InterProcessSemaphoreV2: the paths of a semaphore,
// the waiter for permits, and the store of the total numbers of permits.
#pragma once

#include "store/zookeeper/locks.hpp"
#include "store/zookeeper/store_session.hpp"

#include <holdfast/counters.hpp>
#include <holdfast/store.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::zookeeper {

/// Paths of Curator's InterProcessSemaphoreV2. The semaphore has a mutex, whose nodes are below the
/// path `locks`. Only the holder of this mutex may add nodes below the path `leases`.
struct semaphore_paths {
    semaphore_paths(const paths& where, const lock_name& name)
        : itself{where.of(name)}
        , locks{below(itself, "locks")}
        , leases{below(itself, "leases")} {}
    /// Node that stores the total number of permits. Curator does not store the total at the
    /// server: each Curator client has its own copy.
    std::string itself;
    std::string locks;
    std::string leases;
};

/// Parses the total number of permits. Returns nothing if the total is not set, for example in a
/// semaphore that Curator created.
std::optional<std::int64_t> capacity_in(std::string_view data);

/// Functions that write and check the data of the semaphore's node: the total, and the id of the
/// request that set it.
std::string capacity_data(std::int64_t permits, const owner_id& request);
bool was_set_by(std::string_view data, const owner_id& request);

/// Reads the total number of permits from the server. Returns nothing if the total is not set yet.
asio::awaitable<std::optional<std::int64_t>> read_capacity(store_session&, const semaphore_paths&);

/// Throws `store_errc::wrong_type` if a lock uses the path.
asio::awaitable<void> refuse_lock(store_session&, const semaphore_paths&);

/// Waiter for permits of a leased semaphore. It queues for the semaphore's mutex, and keeps the
/// mutex until enough permits are free. So it gets all wanted permits or none.
class permit_place final : public place {
public:
    /// `wake` must outlive the object.
    permit_place(std::shared_ptr<store_session>, ask, alarm& wake);
    ~permit_place() override;

    asio::awaitable<answer> look() override;
    asio::awaitable<void> leave() override;

    bool must_leave() const noexcept override;
    bool uncertain() const noexcept override;
    time_point settled_at() const noexcept override { return time_point::min(); }

private:
    asio::awaitable<std::optional<std::int64_t>> capacity();
    asio::awaitable<bool> is_busy(std::int64_t capacity);
    asio::awaitable<bool> is_busy_here(std::int64_t capacity);
    asio::awaitable<bool> is_my_turn();
    asio::awaitable<bool> has_permit_nodes(std::int64_t capacity);
    asio::awaitable<answer> granted(time_point began);
    asio::awaitable<answer> busy();
    void require_time() const { home_->require_time(last_start_); }

    const std::shared_ptr<store_session> home_;
    const std::shared_ptr<void> session_lives_ = home_->in_use();
    const ask want_;
    alarm& wake_;
    const semaphore_paths at_;
    queue_node turn_;
    std::vector<std::unique_ptr<queue_node>> permit_nodes_;
    predecessor_watch before_;
    std::unique_ptr<watch> others_leases_;
    bool granted_ = false;
    bool leaving_ = false;
    time_point last_start_{}; ///< the present attempt starts no request after this time
};

/// Store of the total numbers of permits of leased semaphores. A total can be set only once: each
/// Curator client has its own copy of it, and would not notice a change.
class zookeeper_counters final : public counter_store {
public:
    explicit zookeeper_counters(std::shared_ptr<store_session> home)
        : home_{std::move(home)} {}

    bool offers(counter_kind kind) const noexcept override { return kind == counter_kind::permits; }
    std::optional<std::string> objection_to(const lock_name& name, counter_kind) const override {
        return home_->where.objection_to(name);
    }
    std::unique_ptr<place> line_up(counter_ask, alarm& wake) override;
    asio::awaitable<counter_answer> change(counter_change) override;
    asio::awaitable<counter_state> inspect(lock_name, counter_kind) override;
    asio::awaitable<counter_list> list(counter_kind, std::string pattern,
                                       std::size_t limit) override;
    duration memory() const noexcept override { return home_->context.request_memory; }

private:
    asio::awaitable<counter_answer> set(counter_change, bool only_new);
    asio::awaitable<bool> make(const semaphore_paths&, std::string data);
    asio::awaitable<bool> give_back(const semaphore_paths&, std::string permit);
    asio::awaitable<bool> erase(const semaphore_paths&);
    asio::awaitable<counter_state> state_at(const semaphore_paths&);

    const std::shared_ptr<store_session> home_;
};

} // namespace holdfast::zookeeper
