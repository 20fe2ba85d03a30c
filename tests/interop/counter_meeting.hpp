// SPDX-License-Identifier: Apache-2.0
// Fixture with a JVM and a holdfast process that use the same counter, "L": a semaphore or a latch.
#pragma once

#include "interop/meeting.hpp"
#include "interop/remote.hpp"
#include "interop/server_state.hpp"

#include <algorithm>
#include <functional>

namespace holdfast::interop {

class counter_meeting : public meeting {
protected:
    void SetUp() override {
        meeting::SetUp();
        // The waiters send requests only after notifications.
        have_clients({.poll_bound = 1h});
    }

    /// Returns when that client listens and has asked again since: it may have missed a message
    /// before. For its first waiter at that name; of ours, others may join the first one's wait.
    ongoing parked(const std::function<ongoing()>& begin, const std::string& name = "L") {
        transcript seen{server().socket_path()};
        ongoing call = begin();
        EXPECT_TRUE(eventually([&] { return times_read(seen, name) >= 2; }));
        return call;
    }

    static std::ptrdiff_t times_read(transcript& seen, const std::string& name) {
        return std::ranges::count_if(seen.all(), [&](const entry& each) {
            return each.is("GET") && each.words.at(1) == name;
        });
    }

    /// The published messages in order, for example "redisson_sc:{L} 5".
    static std::vector<std::string> told(transcript& seen) {
        std::vector<std::string> all;
        for (const entry& each : seen.all())
            if (each.is_telling())
                all.push_back(each.words.at(1) + " " + each.words.at(2));
        return all;
    }

    /// The counter's number is that, and nothing else is on the server but what goes by itself; no
    /// end of it is near.
    void expect_number(std::int64_t number) {
        const auto state = state_of(server());
        ASSERT_THAT(state, testing::UnorderedElementsAre(testing::Pair("L", testing::_)));
        EXPECT_EQ(state.at("L").type, "string");
        EXPECT_EQ(state.at("L").value, std::to_string(number));
        EXPECT_FALSE(state.at("L").left);
    }
    void expect_nothing() { EXPECT_TRUE(state_of(server()).empty()); }
};

} // namespace holdfast::interop
