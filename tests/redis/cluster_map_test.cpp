// SPDX-License-Identifier: Apache-2.0
// When a cluster is asked who has which slots, and who is believed.
#include "cluster_fixture.hpp"

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class ClusterMap : public on_fake_cluster {
protected:
    void know_all() { how_.cluster->addresses = {address(0), address(1), address(2)}; }
};

TEST_F(ClusterMap, IsAskedForAtThreeNodesAtOnce) {
    know_all();
    ask(low_);
    EXPECT_EQ(questions(), 3u);
    for (fake_server* each : servers())
        EXPECT_EQ(each->count_asked("CLUSTER"), 1u);
}

TEST_F(ClusterMap, IsWhatMostNodesSay) {
    know_all();
    at(0).says["CLUSTER"] = slots_text({0, 1}); // which was cut off from the others
    at(1).says["CLUSTER"] = at(2).says["CLUSTER"] = slots_text({2, 1});
    ask(low_);
    EXPECT_EQ(calls_at(2), 1u);
}

TEST_F(ClusterMap, DoesNotWaitForANodeThatDoesNotAnswer) {
    know_all();
    at(1).says.erase("CLUSTER");
    const auto one = ask(low_);
    EXPECT_FALSE(one->done);
    pass(300ms);
    EXPECT_EQ(one->answer.integer, 1);
}

TEST_F(ClusterMap, IsNotLearntFromAnAnswerThatMakesNoSense) {
    know_all();
    for (const std::string& strange :
         {std::string{":7\r\n"}, std::string{"*1\r\n*3\r\n:9\r\n:3\r\n*2\r\n$1\r\nh\r\n:1\r\n"},
          std::string{"-ERR unknown command 'CLUSTER'\r\n"}}) {
        at(0).says["CLUSTER"] = at(2).says["CLUSTER"] = strange;
        const auto one = ask(low_);
        pass(300ms);
        EXPECT_EQ(one->answer.integer, 1) << strange;
        close();
    }
}

TEST_F(ClusterMap, ThatNobodyTellsEndsACallInItsTime) {
    at(0).says["CLUSTER"] = ":7\r\n";
    const auto one = ask(low_);
    pass(3s);
    ASSERT_TRUE(one->done);
    EXPECT_EQ(one->code, errc::unreachable);
    EXPECT_THAT(one->text, HasSubstr("tells who has which slots"));
    EXPECT_GE(questions(), 12u) << "100 to 250 ms apart";
    EXPECT_LE(questions(), 31u);
}

TEST_F(ClusterMap, ThatIsRefusedIsNotAskedForAgain) {
    at(0).says["CLUSTER"] = "-NOPERM this user has no permissions to run 'cluster|slots'\r\n";
    const auto one = ask(low_);
    ASSERT_TRUE(one->done);
    EXPECT_EQ(one->code, errc::refused);
}

TEST_F(ClusterMap, IsAskedForNowAndThenOnlyWhileItIsUsed) {
    ask(low_);
    pass(1min);
    const std::size_t unused = questions();
    EXPECT_LE(unused, 2u);
    holds_ = true;
    pass(1min);
    EXPECT_GE(questions(), unused + 12);
    EXPECT_LE(questions(), unused + 3 * 16);
    holds_ = false;
    pass(10s);
    const std::size_t before = questions();
    pass(1min);
    EXPECT_EQ(questions(), before);
}

TEST_F(ClusterMap, WithHolesIsAskedForUntilTheyAreFilled) {
    ask(low_);
    holds_ = true;
    at(0).says["CLUSTER"] = at(1).says["CLUSTER"] = at(2).says["CLUSTER"] =
        "*1\r\n*3\r\n:0\r\n:" + std::to_string(half - 1) + "\r\n*2\r\n" + bulk(at(0).path()) +
        ":1\r\n";
    const auto one = ask(high_); // it is known still
    EXPECT_TRUE(one->done);
    pass(5s);
    const std::size_t before = questions();
    const auto two = ask(high_);
    pass(1s);
    EXPECT_FALSE(two->done);
    EXPECT_GE(questions(), before + 4);
    share({0, 1});
    pass(250ms);
    EXPECT_EQ(two->answer.integer, 1);
}

TEST_F(ClusterMap, IsAskedForAtNodesThatTheSeedsHaveNamed) {
    ask(low_);
    ask(high_);
    at(0).stop(); // the only seed
    share({1, 1});
    const auto one = ask(low_);
    pass(1s);
    EXPECT_EQ(one->answer.integer, 1);
    EXPECT_EQ(calls_at(1), 2u);
}

TEST_F(ClusterMap, CastsDoubtOnWhatIsAtServersThatHaveChanged) {
    ask(low_);
    holds_ = true;
    share({2, 1});
    pass(6s);
    ASSERT_EQ(doubts_.size(), 1u);
    EXPECT_TRUE(doubts_[0]) << "the other one may have less";
    EXPECT_TRUE(doubted_[0](lock_name{low_}));
    EXPECT_FALSE(doubted_[0](lock_name{high_}));
    EXPECT_EQ(told_.last(event_kind::moved)->name, text_of(2));
}

TEST_F(ClusterMap, AnEvenChangeIsNotUrgent) {
    ask(low_);
    holds_ = true;
    share({0, 2, 1, 1}); // a quarter of all slots goes to the third server
    pass(6s);
    ASSERT_EQ(doubts_.size(), 1u);
    EXPECT_FALSE(doubts_[0]) << "slots that move take their keys along";
}

TEST_F(ClusterMap, AServerWithoutSlotsAndUseIsLeft) {
    ask(low_);
    at(0).says["EVALSHA"] = asked_at(low_, 2);
    ask(low_);
    holds_ = true;
    ASSERT_TRUE(session_with(2, "EVALSHA").open);
    pass(8s);
    EXPECT_TRUE(session_with(2, "EVALSHA").open);
    pass(8s);
    EXPECT_FALSE(session_with(2, "EVALSHA").open);
    EXPECT_EQ(ask(low_)->answer.integer, 1) << "and comes back when it is used";
    holds_ = false;
}

} // namespace
} // namespace holdfast
