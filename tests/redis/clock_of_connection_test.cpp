// SPDX-License-Identifier: Apache-2.0
// Two servers behind one name, whose dates differ: a request's deadline is written for the clock of
// the one that it is sent to.
#include "named_pair.hpp"
#include "node_on_server.hpp"

#include <cstdlib>
#include <optional>

namespace holdfast {
namespace {

using namespace std::chrono_literals;

/// How much time it has left when it is carried out.
constexpr const char* show_deadline = R"(
    local now = redis.call('TIME')
    return tonumber(ARGV[1]) - (now[1] * 1000000 + now[2]))";

/// What may be carried out in time only.
constexpr const char* take_in_time = R"(
    local now = redis.call('TIME')
    local late = tonumber(ARGV[1]) <= now[1] * 1000000 + now[2]
    return redis.call('INCR', late and 'late' or 'in time'))";

class ClockOfConnection : public ::testing::TestWithParam<support::server_binary>,
                          protected driven_node {
protected:
    static constexpr auto apart = 20s;

    void SetUp() override {
        support::make_or_skip([this] { pair_.emplace(GetParam(), true); });
        if (IsSkipped())
            return;
        for (support::redis_server* const each : {&pair_->old(), &pair_->next()})
            each->command({"ACL", "SETUSER", "app", "on", "nopass", "~*", "&*", "+@all", "-info"});
        pair_->promote(pair_->next());
        how_ = pair_->by_name();
        how_.user = "app"; // then nobody knows that these are two, and both stay in use
        how_.address_check = 1h;
        how_.command_timeout = 300ms;
    }
    void TearDown() override {
        forget_node();
        run_to_the_end();
    }

    /// Over the shared connection, or over that for what replicas confirm.
    outcome ask(const char* text, time_point deadline, bool confirmed) {
        std::string digest;
        for (support::redis_server* const each : {&pair_->old(), &pair_->next()})
            if (each->is_up()) // so that it is sent once, and not known there only then
                digest = each->command({"SCRIPT", "LOAD", text}).text;
        redis::call_wishes wishes;
        wishes.replicas = confirmed ? 1 : 0;
        wishes.replicas_within = 10ms;
        return call({"", digest, text}, {}, {redis::server_deadline{deadline}}, wishes);
    }
    /// What is left of a minute when it arrives.
    std::chrono::microseconds left_of_a_minute(bool confirmed) {
        const outcome got = ask(show_deadline, clock_.now() + 1min, confirmed);
        EXPECT_FALSE(got.code) << got.text;
        return std::chrono::microseconds{got.answer.integer};
    }
    static void expect_a_minute(std::chrono::microseconds left) {
        EXPECT_LE(left, 1min);
        EXPECT_GT(left, 1min - apart / 2);
    }
    static std::int64_t number(support::redis_server& at, const std::string& key) {
        return std::strtoll(at.command({"GET", key}).text.c_str(), nullptr, 10);
    }
    /// A request that a server has in its hands when it stops, and carries out afterwards.
    void expect_nothing_late(support::redis_server& at, bool confirmed) {
        for (support::redis_server* const each : {&pair_->old(), &pair_->next()})
            each->command({"SCRIPT", "LOAD", take_in_time});
        at.pause();
        const time_point deadline = clock_.now() + how_.command_timeout;
        EXPECT_EQ(ask(take_in_time, deadline, confirmed).code, errc::outcome_unknown);
        EXPECT_GE(clock_.now(), deadline);
        at.resume();
        EXPECT_TRUE(support::eventually([&] { return number(at, "late") == 1; }));
        EXPECT_EQ(number(at, "in time"), 0);
    }

    std::optional<named_pair> pair_;
};
HOLDFAST_ON_EACH_SERVER(ClockOfConnection);

TEST_P(ClockOfConnection, NeitherServersDeadlineIsWrittenForTheOthersClock) {
    pair_->next().step_clock(-apart); // the one where what is late would be in time
    expect_a_minute(left_of_a_minute(false));
    pair_->lead_to(pair_->next());
    expect_a_minute(left_of_a_minute(true));
    expect_a_minute(left_of_a_minute(false));
    expect_nothing_late(pair_->next(), true);
    expect_nothing_late(pair_->old(), false);
}

TEST_P(ClockOfConnection, NorWhereTheNextOneIsAhead) {
    pair_->next().step_clock(apart);
    expect_a_minute(left_of_a_minute(false));
    pair_->lead_to(pair_->next());
    expect_a_minute(left_of_a_minute(true));
    expect_a_minute(left_of_a_minute(false));
    expect_nothing_late(pair_->old(), false);
    expect_nothing_late(pair_->next(), true);
}

} // namespace
} // namespace holdfast
