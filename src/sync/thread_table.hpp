// SPDX-License-Identifier: Apache-2.0
// Which thread holds what: how the blocking verbs tie a hold to its thread, as std's do.
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

/// Names the calling thread for ever: the system uses its thread ids again, this is not.
std::uint64_t this_thread_number();

/// How a thread has a lock. It may have it both ways at once: alone, on top of sharing it. A lock
/// made of several has names of its own.
enum class side : std::uint8_t { alone, shared, several };

constexpr side side_of(lock_kind kind) {
    return kind == lock_kind::read ? side::shared : side::alone;
}

/// Thread safety: every member, any thread. When a thread ends, its entries are taken out and
/// handed to `on_abandoned`, on that thread. If it asks for one once more, it has them again: the
/// thread that calls exit() destroys what is static after all that was thread_local.
class thread_table : public std::enable_shared_from_this<thread_table> {
public:
    using shared_tenure = std::shared_ptr<tenure>;

    /// `forked` tells whether this process is a child that only has a copy.
    explicit thread_table(std::function<void(shared_tenure)> on_abandoned,
                          std::function<bool()> forked = {});

    struct entry {
        shared_tenure hold;
        std::size_t count = 0; ///< 0: this thread has none of that name and side
        bool lent = false;     ///< it is a part of a hold of several
    };

    entry find(std::string_view name, side); ///< this thread's
    void add(shared_tenure, side);           ///< this thread's first of its name and side
    /// The same of a part of a hold of several: only take_back_lent() ends that, or its loss. If
    /// the thread took it once more meanwhile, it has that share of it from then on.
    void lend(shared_tenure, side);
    void take_back_lent(std::string_view name, side);
    void enter_again(std::string_view name, side); ///< count + 1
    /// Count - 1; as it was before. What is lent is not left for good: then 0.
    entry leave(std::string_view name, side);
    void abandon(std::uint64_t thread); ///< that thread ends
    void let_go();                      ///< of all entries of all threads

private:
    struct key {
        std::uint64_t thread;
        std::string_view name; // of the tenure
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
    std::vector<orphan> orphans_; // abandoned, while somebody else keeps them
};

} // namespace holdfast::sync
