// SPDX-License-Identifier: Apache-2.0
// A JVM's readers and writers and ours at one lock, "L".
#pragma once

#include "interop/meeting.hpp"
#include "interop/server_state.hpp"
#include "interop/transcript.hpp"

#include <algorithm>

namespace holdfast::interop {

class shared_meeting : public meeting {
protected:
    /// Nobody asks but when it is told to.
    static client_settings without_polls() { return {.lease_time = 10min, .poll_bound = 1h}; }

    static remote_lock reader(remote_client& whose, const std::string& actor) {
        return whose.thread(actor).lock("L", "getReadWriteLock/readLock");
    }
    static remote_lock writer(remote_client& whose, const std::string& actor) {
        return whose.thread(actor).lock("L", "getReadWriteLock/writeLock");
    }

    /// Returns when that client listens and has asked again since, and the lock's thread sleeps: a
    /// writer's message wakes only those of a JVM who do.
    ongoing parked(remote_client& whose, remote_lock lock) {
        transcript seen{server().socket_path()};
        const bool listens_already = listeners() > 0;
        ongoing call = lock.begin_lock();
        EXPECT_TRUE(eventually([&] {
            const std::vector<entry>& all = seen.all();
            const auto listens =
                std::ranges::find_if(all, [](const entry& each) { return each.is("SUBSCRIBE"); });
            const auto asks = std::count_if(
                listens_already ? all.begin() : listens, all.end(),
                [&](const entry& each) { return each.is_script() && each.mentions(whose.id()); });
            return asks >= 1 && lock.is_asleep();
        }));
        return call;
    }

    std::int64_t listeners() {
        return server().command({"PUBSUB", "NUMSUB", "redisson_rwlock:{L}"}).items.at(1).integer;
    }

    bool is_free() {
        return eventually([this] { return state_of(server()).empty(); });
    }
};

} // namespace holdfast::interop
