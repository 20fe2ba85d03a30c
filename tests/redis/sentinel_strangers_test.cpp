// SPDX-License-Identifier: Apache-2.0
// Sentinels that know less than the others, are slow, or watch over another service by now.
#include "sentinel_fixture.hpp"

namespace holdfast {
namespace {

using namespace std::chrono_literals;

class SentinelStrangers : public on_fake_sentinels {
protected:
    /// This one answers nothing any more, until answer_late().
    void make_slow(std::size_t which) { sentinel(which).improvises = nullptr; }
    void answer_late(std::size_t which, const view& knows) {
        const std::string text = answer_as(knows, {"SENTINEL", "MASTER"}) +
                                 answer_as(knows, {"SENTINEL", "GET-MASTER-ADDR-BY-NAME"}) +
                                 "-ERR unknown command\r\n";
        for (const auto& each : sentinel(which).sessions)
            if (each->open && each->muted && !listens(*each)) {
                each->muted = false;
                each->send(text);
            }
        settle();
    }
    /// This one watches over that server and replicas, and says so.
    void watches(std::size_t which, const view& knows, const std::vector<std::uint16_t>& replicas) {
        sentinel(which).improvises =
            [knows, replicas](const fake_server::words& said) -> std::optional<std::string> {
            if (said[0] != "SENTINEL")
                return std::nullopt;
            if (said[1] != "REPLICAS")
                return answer_as(knows, said);
            std::string all = "*" + std::to_string(replicas.size()) + "\r\n";
            for (const std::uint16_t each : replicas)
                all += "*4\r\n" + bulk("ip") + bulk("127.0.0.1") + bulk("port") +
                       bulk(std::to_string(each));
            return all;
        };
    }
    std::size_t calls_at(const fake_server& server) { return server.count_asked("EVALSHA"); }
};

TEST_F(SentinelStrangers, AStaleOneThatAnswersFirstDoesNotDecide) {
    views_[0] = {old_.port(), 3};
    make_slow(1);
    make_slow(2);
    const asked one = ask();
    pass(1500ms);
    EXPECT_EQ(calls_at(old_), 0u) << "one of three has answered";
    answer_late(1, {new_.port(), 4});
    answer_late(2, {new_.port(), 4});
    pass(100ms);
    EXPECT_EQ(one->answer.integer, 1);
    EXPECT_EQ(calls_at(new_), 1u);
    EXPECT_EQ(calls_at(old_), 0u);
}

TEST_F(SentinelStrangers, AnAnswerThatComesLateCountsWhenItComes) {
    make_slow(2);
    const asked one = ask();
    pass(300ms);
    EXPECT_EQ(one->answer.integer, 1);
    EXPECT_EQ(calls_at(old_), 1u);
    answer_late(2, {new_.port(), 1}); // which led the failover
    EXPECT_EQ(told_.count(event_kind::moved), 1u);
    EXPECT_EQ(ask()->answer.integer, 1);
    EXPECT_EQ(calls_at(new_), 1u);
}

TEST_F(SentinelStrangers, OnesThatAreSetUpAnewAreBelievedThoughOneIsGone) {
    appoint(old_, 50);
    ask();
    sentinel(2).stop();
    demote(old_);
    appoint(new_, 1);
    for (int i = 0; i < 4; ++i) {
        ask();
        pass(3s);
    }
    EXPECT_GE(told_.count(event_kind::moved), 1u);
    EXPECT_THAT(told_.last(event_kind::moved)->name,
                ::testing::HasSubstr(std::to_string(new_.port())));
    const std::size_t before = calls_at(new_);
    EXPECT_EQ(ask()->answer.integer, 1);
    EXPECT_EQ(calls_at(new_), before + 1);
}

TEST_F(SentinelStrangers, AnotherServiceOfTheSameNameHasNoVote) {
    fake_server theirs{io_, fake_server::place{}};
    theirs.says["EVALSHA"] = ":7\r\n";
    for (const std::size_t each : {1u, 2u})
        watches(each, {old_.port(), 3}, {new_.port()});
    watches(0, {theirs.port(), 90}, {1});
    EXPECT_EQ(ask()->answer.integer, 1);
    for (const std::size_t each : {1u, 2u})
        sentinel(each).stop(); // it is the only one that answers
    for (int i = 0; i < 10; ++i) {
        pass(6s);
        EXPECT_EQ(ask()->answer.integer, 1);
    }
    EXPECT_EQ(calls_at(theirs), 0u);
    EXPECT_EQ(told_.count(event_kind::moved), 0u);
    close();
    theirs.stop();
    settle();
}

TEST_F(SentinelStrangers, WithoutPasswordsBesideServersWithUsersAreAsked) {
    how_.user = "app";
    how_.password = secret{"its"};
    for (const auto& each : sentinels_)
        each->says["AUTH"] = "-WRONGPASS invalid username-password pair or user is disabled.\r\n";
    EXPECT_EQ(ask()->answer.integer, 1);
    pass(1s);
    EXPECT_EQ(listened_to(), 2u);
}

TEST_F(SentinelStrangers, AnEmptyLoginOfTheirOwnIsNone) {
    how_.user = "app";
    how_.password = secret{"its"};
    how_.sentinel->own_login = true;
    for (const auto& each : sentinels_)
        each->says.erase("AUTH"); // and nothing behind it would be answered
    EXPECT_EQ(ask()->answer.integer, 1);
}

TEST_F(SentinelStrangers, ThatWantAPasswordOfTheirOwnSayWhichWasWrong) {
    how_.user = "app";
    how_.password = secret{"its"};
    for (const auto& each : sentinels_) {
        each->says["AUTH"] = "-WRONGPASS invalid username-password pair\r\n";
        each->says["SENTINEL"] = "-NOAUTH Authentication required.\r\n";
    }
    const asked one = ask();
    pass(how_.command_timeout);
    EXPECT_THAT(one->text, ::testing::AllOf(::testing::HasSubstr("AUTH: WRONGPASS"),
                                            ::testing::HasSubstr("sentinel_user")));
}

} // namespace
} // namespace holdfast
