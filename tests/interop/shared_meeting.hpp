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
