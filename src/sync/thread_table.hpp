// SPDX-License-Identifier: Apache-2.0
// Table of the holds of each thread. A hold that was taken by a blocking function belongs to the
// calling thread, as with std::mutex.
#pragma once

#include "sync/lock_handle.hpp"

#include <holdfast/store.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace holdfast::sync {

/// Returns a number that identifies the calling thread. No other thread ever gets the same number.
/// (The system, however, may use a thread id again.)
std::uint64_t this_thread_number();

/// How a thread holds a lock: exclusively (`alone`), `shared`, or as a lock that consists of
/// several locks (`several`). A thread may hold one lock exclusively and shared at the same time.
enum class side : std::uint8_t { alone, shared, several };

constexpr side side_of(lock_kind kind) {
    return kind == lock_kind::read ? side::shared : side::alone;
}

/// Table of holds by thread. Thread safety: any thread may call every function.
///
/// When a thread ends, the table removes its entries and calls `on_abandoned` with their holds, on
/// that thread. If a thread calls exit(), its thread_local objects are destroyed first and static
/// objects later. So the destructor of a static object may ask for an entry after the table has
/// removed it. The table then restores the entry.
class thread_table : public std::enable_shared_from_this<thread_table> {
public:
    using shared_lock_handle = std::shared_ptr<lock_handle>;

    /// Creates a table. `forked` returns whether this process is the child of a fork(). The child
    /// of a fork() has only a copy of the table.
    explicit thread_table(std::function<void(shared_lock_handle)> on_abandoned,
                          std::function<bool()> forked = {});

    struct entry {
        shared_lock_handle hold;
        std::size_t count = 0; ///< 0: this thread has no hold of that name
        bool lent = false;     ///< part of a composite hold
    };

    entry find(std::string_view name, side); ///< finds the entry of this thread
    void add(shared_lock_handle, side);      ///< adds the first entry of this thread and name
    /// Adds the hold of one member of a hold on several locks. The entry stays until
    /// take_back_lent() is called or the hold is lost. If the thread has meanwhile also locked this
    /// member by itself, take_back_lent() keeps the thread's own share.
    void lend(shared_lock_handle, side);
    void take_back_lent(std::string_view name, side);
    void enter_again(std::string_view name, side); ///< adds 1 to the count
    /// Subtracts 1 from the count of an entry, and returns the entry as it was before. If a hold on
    /// several locks needs the entry (`lent`) and the count is 1, changes nothing and returns an
    /// empty entry.
    entry leave(std::string_view name, side);
    void abandon(std::uint64_t thread); ///< removes the entries of a thread that ends
    void let_go();                      ///< drops all entries of all threads

private:
    struct key {
        std::uint64_t thread;
        std::string_view name; // points into the hold
        side has_it;
        bool operator==(const key&) const = default;
    };
    struct hash {
        std::size_t operator()(const key& k) const noexcept {
            const std::uint64_t whose = 3 * k.thread + static_cast<std::uint64_t>(k.has_it);
            return std::hash<std::string_view>{}(k.name) ^ (whose * 0x9e3779b97f4a7c15U);
        }
    };
    using map = std::unordered_map<key, entry, hash>;
    struct orphan {
        std::uint64_t thread;
        side had_it;
        std::weak_ptr<lock_handle> hold;
        std::size_t count;
    };

    void enter(entry, side);
    map::iterator mine(std::string_view name, side);
    void take_back(std::uint64_t thread);

    const std::function<void(shared_lock_handle)> on_abandoned_;
    const std::function<bool()> forked_;
    std::mutex mutex_;
    map entries_;
    std::vector<orphan> orphans_; // holds of ended threads that other code keeps alive
};

} // namespace holdfast::sync
