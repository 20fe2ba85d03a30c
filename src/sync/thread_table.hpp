// SPDX-License-Identifier: Apache-2.0
// Table of the holds of each thread. The blocking functions tie a hold to its thread, as std's do.
#pragma once

#include "sync/tenure.hpp"

#include <holdfast/store.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace holdfast::sync {

/// Returns a number that identifies the calling thread and is never used again. The system's thread
/// ids are reused.
std::uint64_t this_thread_number();

/// How a thread has a lock. It may have a lock on two sides at once: exclusively, on top of sharing
/// it. A lock made of several locks has names of its own.
enum class side : std::uint8_t { alone, shared, several };

constexpr side side_of(lock_kind kind) {
    return kind == lock_kind::read ? side::shared : side::alone;
}

/// Table of holds by thread. Thread safety: any thread may call every function.
///
/// When a thread ends, its entries are removed and given to `on_abandoned`, on that thread. If the
/// thread asks for an entry even later, it gets the entry back: a thread that calls exit() destroys
/// static objects after its thread_local objects.
class thread_table : public std::enable_shared_from_this<thread_table> {
public:
    using shared_tenure = std::shared_ptr<tenure>;

    /// `forked` tells whether this process is a forked child, which has only a copy of the table.
    explicit thread_table(std::function<void(shared_tenure)> on_abandoned,
                          std::function<bool()> forked = {});

    struct entry {
        shared_tenure hold;
        std::size_t count = 0; ///< 0: this thread has no such hold
        bool lent = false;     ///< a part of a hold on several locks
    };

    entry find(std::string_view name, side); ///< finds the entry of this thread
    void add(shared_tenure, side);           ///< adds this thread's first entry of that name and
                                             ///< side
    /// Adds a part of a hold on several locks. Only take_back_lent(), or the loss of the hold,
    /// removes it. If the thread has taken the part again meanwhile, take_back_lent() leaves it
    /// that share.
    void lend(shared_tenure, side);
    void take_back_lent(std::string_view name, side);
    void enter_again(std::string_view name, side); ///< adds 1 to the count
    /// Subtracts 1 from the count. Returns the entry as it was before. For the last count of a lent
    /// entry it does nothing and returns an empty entry.
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
        std::weak_ptr<tenure> hold;
        std::size_t count;
    };

    void enter(entry, side);
    map::iterator mine(std::string_view name, side);
    void take_back(std::uint64_t thread);

    const std::function<void(shared_tenure)> on_abandoned_;
    const std::function<bool()> forked_;
    std::mutex mutex_;
    map entries_;
    std::vector<orphan> orphans_; // abandoned holds that something else keeps alive
};

} // namespace holdfast::sync
