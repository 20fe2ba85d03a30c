// SPDX-License-Identifier: Apache-2.0
// A JVM and ours at one permit-expirable semaphore, "L"; ours write for JVMs of that age.
#pragma once

#include "interop/counter_meeting.hpp"

namespace holdfast::interop {

class permits_meeting : public counter_meeting {
protected:
    static constexpr duration lease_of_ours{1'500};

    void SetUp() override {
        meeting::SetUp();
        // Nobody asks but when it is told to, or when a permit ends.
        have_clients({.lease_time = lease_of_ours, .poll_bound = 1h, .redisson_form = form()});
    }

    static std::optional<std::string> form() { return form_of(GetParam().redisson); }

    remote_permits of_first(const std::string& actor = "alice", const std::string& name = "L") {
        return remote_permits{first().thread(actor), name};
    }
    remote_permits of_second(const std::string& actor = "bob", const std::string& name = "L") {
        return remote_permits{second().thread(actor), name};
    }
    remote_permits of_ours(const std::string& actor = "ours") {
        return remote_permits{ours().thread(actor)};
    }
    remote_permits of_jvm(const std::string& actor = "jvm") {
        return remote_permits{jvm().thread(actor)};
    }

    /// Several at once, lists, acquired permits, setPermits.
    static bool are_new() { return is_at_least(GetParam().redisson, 3, 41); }

    ongoing waiting(remote_permits& for_one, const std::string& name = "L") {
        return parked([&] { return for_one.begin_acquire(); }, name);
    }
    static std::string id_in(ongoing served) {
        return json::value_to<std::string>(soon(std::move(served.answer)));
    }

    void expect_counts(std::int64_t available, std::size_t held) {
        const auto state = state_of(server());
        ASSERT_TRUE(state.contains("L"));
        EXPECT_EQ(state.at("L").value, std::to_string(available));
        EXPECT_EQ(state.contains("{L}:timeout") ? state.at("{L}:timeout").fields.size() : 0, held);
        EXPECT_EQ(state.size(), held == 0 ? 1U : 2U);
    }
    /// When that permit ends, by the server's clock; nothing: it is not held.
    std::optional<duration> end_of(const std::string& id) {
        const std::map<std::string, std::string> held = state_of(server())["{L}:timeout"].fields;
        for (const auto& [member, score] : held)
            if (member == id || in_digits(member) == id)
                return duration{std::stoll(score)};
        return {};
    }
    duration now() { return std::chrono::duration_cast<duration>(time_of(server())); }

    static std::string in_digits(const std::string& bytes) {
        std::string digits;
        for (const char each : bytes)
            for (const int half : {(each >> 4) & 15, each & 15})
                digits += "0123456789abcdef"[half];
        return digits;
    }
    static std::string message(int permits) { return "redisson_sc:{L} " + std::to_string(permits); }
};

} // namespace holdfast::interop
