// SPDX-License-Identifier: Apache-2.0
// A JVM and ours at one rate limiter, "L"; ours write draws as JVMs of that age do.
#pragma once

#include "interop/counter_meeting.hpp"
#include "interop/window.hpp"

#include <cstdint>

namespace holdfast::interop {

class rate_meeting : public counter_meeting {
protected:
    using config = remote_rate::config;

    void SetUp() override {
        meeting::SetUp();
        // An age that no test reaches: who waits asks when the answer said, and not before.
        have_clients({.poll_bound = 1h, .redisson_form = form()});
    }
    static std::optional<std::string> form() { return form_of(GetParam().redisson); }
    static std::size_t length_of_draws() {
        return is_at_least(GetParam().redisson, 3, 17) ? 21 : 8;
    }

    remote_rate of_first(const std::string& actor = "alice", const std::string& name = "L") {
        return remote_rate{first().thread(actor), name};
    }
    remote_rate of_second(const std::string& actor = "bob", const std::string& name = "L") {
        return remote_rate{second().thread(actor), name};
    }

    std::map<std::string, std::string> draws(const std::string& of = {}) {
        return state_of(server())["{L}:permits" + of].fields;
    }
    std::int64_t drawn(const std::string& of = {}) {
        std::int64_t sum = 0;
        for (const auto& [draw, at] : draws(of))
            sum += permits_in(draw);
        return sum;
    }
};

} // namespace holdfast::interop
