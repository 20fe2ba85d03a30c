// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "scripts_limited.hpp"

#include <optional>
#include <string>
#include <vector>

namespace holdfast {

/// The scripts of a fair lock, called as src/store/redis does: a place of ours lasts 20 s, a JVM's
/// wait 300 s.
class on_fair_scripts : public on_limited_scripts {
protected:
    using on_limited_scripts::on_limited_scripts;

    enum { busy = 0, granted = 1, late = 2 };

    struct wish {
        std::int64_t lease = 30'000;
        std::int64_t deadline = 0;
        bool waits = true;
    };

    static std::string ours(int number) {
        return "aaaaaaaa-0000-8fd5-8000-000000000001:" + std::to_string(number);
    }
    static std::string jvm(int number) {
        return "bbbbbbbb-0000-4000-8000-000000000002:" + std::to_string(number);
    }

    redis::reply ask_fair(const std::string& owner) { return ask_fair(owner, {}); }
    redis::reply ask_fair(const std::string& owner, wish how) {
        return run(redis::scripts::lock_fair, {name_, queue_, deadlines_},
                   {std::to_string(how.lease), owner, std::to_string(how.deadline), channel_,
                    "PUBLISH", how.waits ? "1" : "0", "20000", "300000"});
    }
    redis::reply release_fair(const std::string& owner) {
        return run(redis::scripts::release_fair, {name_, queue_, deadlines_},
                   {owner, channel_, "PUBLISH", "300000"});
    }
    static std::int64_t said(const redis::reply& answer) {
        return support::integers_of(answer).at(0);
    }

    std::int64_t server_ms() { return server_micros() / 1000; }

    /// Behind all others, and counts for so many ms from now on; without: for ever not.
    void stands_in_queue(const std::string& owner, std::optional<std::int64_t> lasts) {
        server().command({"RPUSH", queue_, owner});
        if (lasts)
            server().command({"ZADD", deadlines_, std::to_string(server_ms() + *lasts), owner});
    }
    std::vector<std::string> queue() {
        std::vector<std::string> all;
        for (const redis::reply& each : server().command({"LRANGE", queue_, "0", "-1"}).items)
            all.push_back(each.text);
        return all;
    }
    std::vector<std::string> keys() {
        std::vector<std::string> all;
        for (const redis::reply& each : server().command({"KEYS", "*"}).items)
            all.push_back(each.text);
        return all;
    }
    /// ms from now on.
    double place_lasts(const std::string& owner) {
        return std::stod(server().command({"ZSCORE", deadlines_, owner}).text) -
               static_cast<double>(server_ms());
    }

    /// Who is told meanwhile, in order; "" if all are that wait for a plain lock.
    template <typename Work>
    std::vector<std::string> told_by(Work work) {
        support::redis_connection listener{server().socket_path()};
        listener.command({"PSUBSCRIBE", "*"});
        work();
        server().command({"PUBLISH", "end", ""});
        std::vector<std::string> all;
        while (const auto message = listener.next_message(duration{5'000})) {
            const std::string& channel = message->items[2].text;
            if (channel == "end")
                break;
            all.push_back(channel == channel_ ? "" : channel.substr(channel_.size() + 1));
            EXPECT_EQ(message->items[3].text, "0");
        }
        return all;
    }

    std::string queue_ = "redisson_lock_queue:{L}";
    std::string deadlines_ = "redisson_lock_timeout:{L}";
};

} // namespace holdfast
