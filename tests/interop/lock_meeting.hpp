// SPDX-License-Identifier: Apache-2.0
// Fixtures with clients of a JVM and of holdfast that use the same fair lock or read-write lock.
#pragma once

#include "interop/meeting.hpp"
#include "interop/server_state.hpp"

#include <algorithm>
#include <optional>

namespace holdfast::interop {

/// Clients of a JVM and of holdfast in the queue of one fair lock, "L".
class fair_meeting : public meeting {
protected:
    /// The waiters send requests only after notifications.
    static client_settings without_polls() {
        return {.lease_time = 10min, .poll_bound = 30min, .waiter_timeout = 1h};
    }

    remote_lock lock_of(remote_client& whose, const std::string& actor) {
        return whose.thread(actor).lock("L", GetParam().getter);
    }

    /// The waiters in the order of the queue.
    std::vector<std::string> queue() {
        std::vector<std::string> owners;
        for (const redis::reply& each :
             server().command({"LRANGE", "redisson_lock_queue:{L}", "0", "-1"}).items)
            owners.push_back(each.text);
        return owners;
    }

    std::chrono::microseconds deadline_of(const std::string& owner) {
        const std::string ms =
            server().command({"ZSCORE", "redisson_lock_timeout:{L}", owner}).text;
        return std::chrono::milliseconds{std::stoll(ms)};
    }

    /// Returns when that lock's thread has its place, behind all others, and has looked again since
    /// it listens: it may have missed a release before.
    ongoing queued(remote_lock lock, std::optional<duration> timeout = {}) {
        const std::size_t places = queue().size();
        transcript seen{server().socket_path()};
        ongoing call = timeout ? lock.begin_try_lock_for(*timeout) : lock.begin_lock();
        EXPECT_TRUE(eventually([&] {
            const std::vector<std::string> all = queue();
            return all.size() > places && looks_again(seen, all.back());
        }));
        return call;
    }

    static bool looks_again(transcript& seen, const std::string& owner) {
        const std::vector<entry>& all = seen.all();
        const auto listens = std::ranges::find_if(all, [&](const entry& each) {
            return each.is_listening() && each.mentions(channel_of("L") + ":" + owner);
        });
        return std::any_of(listens, all.end(), [&](const entry& each) {
            return each.is_script() && each.mentions(owner);
        });
    }

    static std::ptrdiff_t looks(transcript& seen, const std::string& owner) {
        return std::ranges::count_if(seen.all(), [&](const entry& each) {
            return each.is_script() && each.mentions(owner);
        });
    }
};

/// Readers and writers of a JVM and of holdfast at one lock, "L".
class shared_meeting : public meeting {
protected:
    /// The waiters send requests only after notifications.
    static client_settings without_polls() { return {.lease_time = 10min, .poll_bound = 1h}; }

    static remote_lock reader(remote_client& whose, const std::string& actor) {
        return whose.thread(actor).lock("L", "getReadWriteLock/readLock");
    }
    static remote_lock writer(remote_client& whose, const std::string& actor) {
        return whose.thread(actor).lock("L", "getReadWriteLock/writeLock");
    }

    /// A writer's message wakes only those of a JVM who sleep.
    ongoing parked(remote_client& whose, const remote_lock& lock) {
        return meeting::parked(whose, lock, listeners() > 0);
    }

    std::size_t listeners() { return listeners_at("redisson_rwlock:{L}"); }

    bool is_free() {
        return eventually([this] { return state_of(server()).empty(); });
    }
};

} // namespace holdfast::interop
