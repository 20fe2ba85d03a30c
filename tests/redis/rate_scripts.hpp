// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "counter_scripts.hpp"
#include "redis/client/error_replies.hpp"
#include "store/redis/counter_requests.hpp"

#include <string>
#include <vector>

namespace holdfast {

/// The scripts of rate limiters, called as src/store/redis does.
class on_rate_scripts : public on_counter_scripts {
protected:
    using on_counter_scripts::on_counter_scripts;

    static constexpr std::int64_t hour = 3'600'000;

    struct manner {
        bool per_client = false;
        std::int64_t kept = 0;
    };

    redis::reply take(int permits, std::uint64_t request, std::int64_t deadline = 0) {
        return run(redis::scripts::take_rate, keys(),
                   {std::to_string(permits), member(request, permits), std::to_string(deadline)});
    }
    redis::reply give_back(int permits, std::uint64_t request) {
        return run(redis::scripts::give_back_rate, keys(), {member(request, permits)});
    }
    redis::reply change(const std::string& verb, std::int64_t permits, std::int64_t interval,
                        manner how, once as) {
        std::vector<std::string> all = keys();
        all.push_back(requests_);
        return run(redis::scripts::change_rate, all,
                   {verb, std::to_string(permits), std::to_string(interval),
                    how.per_client ? "1" : "0", std::to_string(how.kept), std::to_string(as.slot),
                    std::to_string(as.number), std::to_string(as.deadline), memory_});
    }
    redis::reply inspect_rate() { return run(redis::scripts::inspect_rate, keys(), {}); }

    /// As a JVM does.
    void set(std::int64_t permits, std::int64_t interval, manner how) {
        server().command({"HSET", name_, "rate", std::to_string(permits), "interval",
                          std::to_string(interval), "type", how.per_client ? "1" : "0",
                          "keepAliveTime", std::to_string(how.kept)});
    }
    void set(std::int64_t permits, std::int64_t interval) { set(permits, interval, {}); }
    void drawn(int permits, std::int64_t at) {
        server().command({"ZADD", draws_, std::to_string(at), member(1'000 + ++others_, permits)});
    }

    static std::string member(std::uint64_t request, int permits) {
        return redis::rate_member({{0xaa, 0xaa, 0xaa, 0xaa, 0, 0, 0x8f, 0xd5}, request}, permits,
                                  redis::redisson_form::v3_17);
    }
    std::int64_t said(const redis::reply& answer) { return support::integers_of(answer).at(0); }
    std::int64_t delay(int permits) { return support::integers_of(take(permits, 99)).at(1); }
    std::int64_t available() { return support::integers_of(inspect_rate()).at(1); }
    std::int64_t now() { return server_micros() / 1000; }
    std::string value(const std::string& key) { return server().command({"GET", key}).text; }

    std::string client_ = ":aaaaaaaa-0000-8fd5-8000-000000000001";
    const std::string left_ = "{L}:value", draws_ = "{L}:permits";

private:
    std::vector<std::string> keys() const {
        return {name_, left_, left_ + client_, draws_, draws_ + client_};
    }

    std::uint64_t others_ = 0;
};

} // namespace holdfast
