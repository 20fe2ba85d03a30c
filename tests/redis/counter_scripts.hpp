// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "scripts_limited.hpp"

#include <optional>
#include <string>
#include <vector>

namespace holdfast {

/// The scripts of what is counted, called as src/store/redis does.
class on_counter_scripts : public on_limited_scripts {
protected:
    using on_limited_scripts::on_limited_scripts;

    enum { not_done = 0, done = 1, late = 2, beyond = 3 };

    /// One request, which may come more than once: the slot and the number are what it is known by.
    struct once {
        int slot = 0;
        int number = 1;
        std::int64_t deadline = 0;
    };

    redis::reply inspect_count() {
        return run(redis::scripts::inspect_counter, {name_}, {"redisson_sc:{L}"});
    }

    std::string value() { return server().command({"GET", name_}).text; }
    void others_set(const std::string& text) { server().command({"SET", name_, text}); }
    std::string remembered(int slot = 0) {
        return server().command({"HGET", requests_, std::to_string(slot)}).text;
    }
    std::int64_t remembered_for() { return ask({"PTTL", requests_}); }

    /// The messages that `work` leads to.
    template <typename Work>
    std::vector<std::string> told_by(Work work) {
        support::redis_connection listener{server().socket_path()};
        listener.command({"PSUBSCRIBE", "*"});
        work();
        server().command({"PUBLISH", "end", ""});
        std::vector<std::string> all;
        while (const auto message = listener.next_message(duration{5'000})) {
            if (message->items[2].text == "end")
                break;
            all.push_back(message->items[2].text + " " + message->items[3].text);
        }
        return all;
    }

    const std::string requests_ = "holdfast_requests:{L}:aaaaaaaa-0000-8fd5-8000-000000000001";
    static constexpr const char* memory_ = "60000";
};

} // namespace holdfast
