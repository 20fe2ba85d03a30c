// SPDX-License-Identifier: Apache-2.0
// Runs the scripts of counters on a real server, called as src/store/redis does.
#pragma once

#include "redis/client/error_replies.hpp"
#include "scripts_fixture.hpp"
#include "store/redis/counter_requests.hpp"
#include "store/redis/names.hpp"

#include <functional>
#include <optional>
#include <string>
#include <utility>
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

/// A change as a user makes it who lacks one right after the other.
template <typename Scripts>
class on_denied_scripts : public Scripts {
protected:
    using Scripts::Scripts;

    struct attempt {
        std::function<void()> arrange;
        std::function<redis::reply()> act; ///< the same request each time
        std::function<std::string()> state;
    };

    /// All or nothing, whichever is missing; and as soon as it is there, once.
    void expect_all_or_nothing(const attempt& what) {
        begin(what);
        EXPECT_FALSE(is_refused(what.act()));
        const std::string wanted = what.state();
        int refused = 0;
        for (const char* const command : commands) {
            SCOPED_TRACE(command);
            begin(what);
            const std::string before = what.state();
            this->deny(command);
            const bool is_denied = is_refused(what.act());
            this->allow_all();
            EXPECT_EQ(what.state(), is_denied ? before : wanted);
            EXPECT_FALSE(is_refused(what.act()));
            EXPECT_EQ(what.state(), wanted) << "repeated";
            refused += is_denied ? 1 : 0;
        }
        EXPECT_GT(refused, 0);
    }

private:
    static constexpr const char* commands[] = {"get",
                                               "set",
                                               "incrby",
                                               "decrby",
                                               "del",
                                               "hset",
                                               "hget",
                                               "pexpire",
                                               "pttl",
                                               "persist",
                                               "zadd",
                                               "zrem",
                                               "zscore",
                                               "zcard",
                                               "zcount",
                                               "zrange",
                                               "zrangebyscore",
                                               "zrevrangebyscore",
                                               "zremrangebyscore",
                                               "hmget",
                                               "publish",
                                               "time"};

    void begin(const attempt& what) {
        this->allow_all();
        this->server().command({"FLUSHALL"});
        what.arrange();
    }
    static bool is_refused(const redis::reply& answer) {
        return answer.type == redis::reply::kind::error;
    }
};

/// The scripts of permits that are leased, called as src/store/redis does.
class on_permit_scripts : public on_counter_scripts {
protected:
    using on_counter_scripts::on_counter_scripts;

    /// Those of so many numbers from the first on.
    struct some {
        int first = 1;
        int count = 1;
    };

    redis::reply take(some which, std::int64_t lease = 30'000, std::int64_t deadline = 0) {
        return run(redis::scripts::take_permits, {name_, held_},
                   {std::to_string(lease), std::to_string(which.first), std::to_string(which.count),
                    prefix(), std::to_string(deadline), told_on_, "PUBLISH"});
    }
    redis::reply release(some which) {
        return run(redis::scripts::release_permits, {name_, held_},
                   {std::to_string(which.first), std::to_string(which.count), prefix(), told_on_,
                    "PUBLISH"});
    }
    redis::reply renew(std::vector<some> all, std::int64_t lease = 30'000) {
        std::vector<std::string> arguments{std::to_string(lease), prefix()};
        for (const some each : all)
            arguments.push_back(std::to_string(each.first) + " " + std::to_string(each.count));
        return run(redis::scripts::renew_permits, std::vector<std::string>(all.size(), held_),
                   std::move(arguments));
    }
    redis::reply change(const std::string& verb, std::int64_t amount, once as,
                        const std::string& permit = {}) {
        return run(redis::scripts::change_permits, {name_, held_, requests_},
                   {verb, std::to_string(amount), permit, std::to_string(as.slot),
                    std::to_string(as.number), std::to_string(as.deadline), memory_, told_on_,
                    "PUBLISH"});
    }
    redis::reply inspect() {
        return run(redis::scripts::inspect_permits, {name_, held_}, {told_on_});
    }

    std::int64_t said(const redis::reply& answer) { return support::integers_of(answer).at(0); }
    std::int64_t left(const redis::reply& answer) { return support::integers_of(answer).at(1); }
    std::int64_t counted(const redis::reply& answer) { return support::integers_of(answer).at(2); }

    std::string prefix() const { return redis::permit_prefix(client_, form_); }
    std::string permit(std::uint64_t number) const {
        return redis::stored_permit(permit_id({client_.client, number}), form_);
    }
    /// In ms from now; 0: it is not there.
    std::int64_t lasts(std::uint64_t number) {
        const redis::reply score = server().command({"ZSCORE", held_, permit(number)});
        return score.type == redis::reply::kind::text
                   ? std::stoll(score.text) - server_micros() / 1000
                   : 0;
    }
    /// Another's, which ends so long from now.
    void others_hold(const std::string& id, std::int64_t lease) {
        server().command({"ZADD", held_, std::to_string(server_micros() / 1000 + lease), id});
    }
    std::int64_t held_count() { return ask({"ZCARD", held_}); }

    redis::redisson_form form_ = redis::redisson_form::v3_17;
    const owner_id client_{{0, 1, 2, 3, 4, 5, 0x8f, 0xd5, 0x80, 0xff}, 0};
    const std::string held_ = "{L}:timeout";
    const std::string told_on_ = "redisson_sc:{L}";
    const std::string other_ = "0123456789abcdef";
};

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
