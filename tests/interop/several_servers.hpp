// SPDX-License-Identifier: Apache-2.0
// A JVM and ours where several servers belong together. Each test plays both ways by itself, for it
// takes a while until a JVM's client is there.
#pragma once

#include "interop/counter_meeting.hpp"

#include <array>
#include <map>
#include <string>

namespace holdfast::interop {

class several_servers : public counter_meeting {
protected:
    using counter_meeting::parked, meeting::parked;

    void SetUp() override {
        meeting::SetUp();
        // Nobody asks but when it is told to.
        have_clients({.lease_time = 10min,
                      .poll_bound = 30min,
                      .waiter_timeout = 1h,
                      .redisson_form = form_of(GetParam().redisson)});
    }

    /// `deed(one, other)` with each side as the one.
    template <typename Deed>
    void in_either_role(Deed deed) {
        for (const bool jvm_is_one : {true, false}) {
            SCOPED_TRACE(jvm_is_one ? "the JVM, then ours" : "ours, then the JVM");
            if (jvm_is_one)
                deed(jvm(), ours());
            else
                deed(ours(), jvm());
        }
    }

    remote_lock lock_of(remote_client& whose, const std::string& actor,
                        const std::string& name = "L") {
        const std::string& getter = GetParam().getter;
        return whose.thread(actor).lock(name, getter == "getReadWriteLock" ? getter + "/writeLock"
                                                                           : getter);
    }

    /// Of the lock's hash, without what says how it is held.
    std::map<std::string, std::string> holders(const std::string& name) {
        std::map<std::string, std::string> all = state_of(keeper_of(name))[name].fields;
        all.erase("mode");
        return all;
    }
    /// As a program would that does not give up: what it asks may be carried out and not be
    /// answered while servers change.
    static void release_in_the_end(remote_lock lock) {
        EXPECT_TRUE(eventually([&] {
            try {
                (void)lock.unlock();
                return true;
            } catch (const peer_failure&) {
                return false;
            }
        }));
    }
    bool is_free(const std::string& name) {
        return keeper_of(name).command({"EXISTS", name}).integer == 0;
    }
};

/// Each in a slot of another server of a cluster.
inline constexpr std::array names_of_three{"a", "b", "c"};

} // namespace holdfast::interop
