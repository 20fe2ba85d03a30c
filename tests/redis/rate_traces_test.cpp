// SPDX-License-Identifier: Apache-2.0
// What real Redisson clients sent for rate limiters, replayed with our scripts in the place of both
// JVMs: who was let through, and how much was left. Where time passed, draws are moved instead.
#include "rate_scripts.hpp"
#include "support/on_each_server.hpp"
#include "support/source_tree.hpp"
#include "trace_casts.hpp"
#include "wire_trace.hpp"

#include <map>
#include <ostream>

#include <gmock/gmock.h>

namespace holdfast::trace {
namespace {

struct rate_replay {
    support::server_binary server;
    std::string version;
};

void PrintTo(const rate_replay& what, std::ostream* out) {
    *out << what.version << " on " << what.server.label;
}

std::vector<rate_replay> all_rate_replays() {
    std::vector<rate_replay> all;
    for (const support::server_binary& server : support::servers())
        for (const char* version : {"3.13.6", "3.17.7", "3.27.2", "3.52.0", "4.7.0"})
            all.push_back({server, version});
    return all;
}

std::string name_of_rates(const ::testing::TestParamInfo<rate_replay>& info) {
    return as_test_name(info.param.server.label + "_" + info.param.version);
}

class RateTraces : public ::testing::TestWithParam<rate_replay> {
protected:
    void play(const scenario& what) {
        server_->command({"FLUSHALL"});
        for (const step& each : what.steps) {
            SCOPED_TRACE(what.name + ", step " + std::to_string(each.number));
            if (each.made.what == "wait")
                let_pass(each.arguments.empty() ? interval : each.arguments[0].as_int64());
            bool has_waited = each.made.what == "wait";
            for (const command& made : each.commands) {
                if (made.what == "DEL") {
                    change("erase", {"0", "0", "0", "0"}, made.by);
                } else if (made.what == "rate.expire" || made.what == "object.expire") {
                    server_->command({"PEXPIRE", "RL", made.words.at(0)});
                } else if (made.is_script) {
                    play(made, has_waited);
                    has_waited = true;
                }
            }
            if (each.state)
                compare_state(*each.state);
        }
    }

    std::optional<support::redis_server> server_;

private:
    using words = std::vector<std::string>;

    /// The recording's, and a little: times are rounded up.
    static constexpr std::int64_t interval = 1'502;

    void play(const command& made, bool has_waited) {
        if (made.what == "rate.acquire")
            return draw(made, has_waited);
        if (made.what == "rate.available")
            return compare_available(made);
        if (made.what == "rate.release")
            return (void)change("add", {made.words.at(0), "0", "0", "0"}, made.by);
        const std::string kept = made.words.size() > 3 ? made.words.at(3) : "0";
        const bool is_first = made.what == "rate.set-rate-if-absent";
        const std::int64_t said =
            change(is_first ? "set_new" : "set",
                   {made.words.at(0), made.words.at(1), made.words.at(2), kept}, made.by);
        if (is_first) {
            EXPECT_EQ(said, made.answer->as_int64());
        }
    }

    /// Who waited inside a call asked when the answer had said.
    void draw(const command& made, bool has_waited) {
        const bool was_drawn = made.answer->is_null();
        if (was_drawn && has_waited)
            let_pass(interval);
        const int count = std::stoi(made.words.at(0));
        const owner_id request{{static_cast<std::uint8_t>(made.by.back()), 7}, ++number_};
        const redis::reply said =
            run(redis::scripts::take_rate, made.by,
                {std::to_string(count), redis::rate_member(request, count, form()), "0"});
        if (made.answer->is_object()) {
            EXPECT_EQ(said.type, redis::reply::kind::error);
        } else if (said.type == redis::reply::kind::error) {
            EXPECT_THAT(said.text, ::testing::HasSubstr("more than the rate"));
        } else {
            EXPECT_EQ(support::integers_of(said).at(0), was_drawn ? 1 : 0);
        }
    }
    /// Never more than the rate: what a JVM gave back may be counted twice there.
    void compare_available(const command& made) {
        const std::vector<std::int64_t> said =
            support::integers_of(run(redis::scripts::inspect_rate, made.by, {}));
        if (made.answer->is_object()) {
            EXPECT_EQ(said.at(0), 0);
            return;
        }
        const std::int64_t recorded = made.answer->is_string()
                                          ? std::stoll(std::string{made.answer->as_string()})
                                          : made.answer->as_int64();
        EXPECT_EQ(said.at(1), std::min(recorded, said.at(2)));
    }
    void compare_state(const json::object& recorded) {
        const json::value* limiter = recorded.if_contains("RL");
        std::map<std::string, std::string> found;
        const std::vector<redis::reply> all = server_->command({"HGETALL", "RL"}).items;
        for (std::size_t i = 0; i + 1 < all.size(); i += 2)
            found[all[i].text] = all[i + 1].text;
        if (limiter == nullptr) {
            EXPECT_TRUE(found.empty());
            return;
        }
        for (const auto& [field, value] : limiter->at("value").as_object())
            EXPECT_EQ(found[field], std::string_view{value.as_string()}) << field;
    }

    std::int64_t change(const std::string& verb, words of, const std::string& by) {
        words all{verb};
        all.insert(all.end(), of.begin(), of.end());
        for (const char* each : {"0", "", "0", "60000"})
            all.emplace_back(each);
        all.at(6) = std::to_string(++number_);
        return support::integers_of(run(redis::scripts::change_rate, by, all)).at(0);
    }
    redis::reply run(const redis::script& what, const std::string& by, words arguments) {
        words keys{"RL", "{RL}:value", "{RL}:value:" + by, "{RL}:permits", "{RL}:permits:" + by};
        if (arguments.size() > 3)
            keys.push_back("holdfast_requests:{RL}:" + by);
        return support::run_script(*server_, what, keys, arguments);
    }
    static redis::redisson_form form() {
        return GetParam().version == "3.13.6" ? redis::redisson_form::v3_13
                                              : redis::redisson_form::v3_17;
    }
    void let_pass(std::int64_t length) {
        for (const redis::reply& key : server_->command({"KEYS", "{RL}:permits*"}).items) {
            const auto all = server_->command({"ZRANGE", key.text, "0", "-1", "WITHSCORES"}).items;
            for (std::size_t i = 0; i + 1 < all.size(); i += 2)
                server_->command({"ZADD", key.text,
                                  std::to_string(std::stoll(all[i + 1].text) - length),
                                  all[i].text});
        }
    }

    std::uint64_t number_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Redisson, RateTraces, ::testing::ValuesIn(all_rate_replays()),
                         name_of_rates);

TEST_P(RateTraces, LetThroughWhomRedissonLetThrough) {
    const rate_replay& what = GetParam();
    try {
        server_.emplace(what.server);
    } catch (const support::server_unavailable& why) {
        ASSERT_FALSE(support::servers_are_required()) << why.what();
        GTEST_SKIP() << why.what();
    }
    const recording recorded =
        read(support::source_file("tests/redis/traces/" + what.version + "/ratelimiter.jsonl"));
    EXPECT_GE(recorded.scenarios.size(), 2U);
    for (const scenario& each : recorded.scenarios)
        play(each);
}

} // namespace
} // namespace holdfast::trace
