// SPDX-License-Identifier: Apache-2.0
// Whoever is told of what happens to a node, and of what happens to the session.
#include "session_fixture.hpp"

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

class SessionWatches : public on_fake_zookeeper {
protected:
    auto watch_node(std::string path, int& told) {
        std::function<void()> whom = [&told] { ++told; };
        return begin(session().watch_node(std::move(path), std::move(whom)));
    }
    using kind = zookeeper::node_event::kind;
};

TEST_F(SessionWatches, AreToldOnce) {
    int told = 0;
    const auto watching = watch_node("/p/n", told);
    ASSERT_TRUE(watching->answer.value());
    server_.last().send(server_.event(kind::deleted, "/p/n") +
                        server_.event(kind::deleted, "/p/n"));
    settle();
    EXPECT_EQ(told, 1);
}

TEST_F(SessionWatches, OfANodeThatIsNotThereAreNone) {
    server_.says[opcode::get_data] = {-101, ""};
    int told = 0;
    EXPECT_EQ(watch_node("/p/n", told)->answer.value(), nullptr);
}

TEST_F(SessionWatches, RingAnAlarmForChildren) {
    const auto wake = clock_.make_alarm();
    const auto both = begin(session().list_and_watch("/p", *wake));
    ASSERT_TRUE(both->answer) << both->text;
    EXPECT_THAT(both->answer->children.value(), ElementsAre("a", "b"));
    const auto slept = begin(wake->wait_until(time_point::max()));
    EXPECT_FALSE(slept->done);
    server_.last().send(server_.event(kind::children, "/p"));
    settle();
    EXPECT_TRUE(slept->done);
}

TEST_F(SessionWatches, AreMissedByNobodyWhereTheEventFollowsTheAnswerAtOnce) {
    open();
    server_.improvises = [&](const fake_zookeeper::asked& one) {
        return server_.answer(one.number, 0, fake_zookeeper::text("") + fake_zookeeper::stat()) +
               server_.event(kind::changed, "/p/n");
    };
    int told = 0;
    const auto watching = watch_node("/p/n", told);
    EXPECT_EQ(told, 1);
}

TEST_F(SessionWatches, ThatWereDroppedAreNotTold) {
    int told = 0;
    const auto watching = watch_node("/p/n", told);
    watching->answer.reset();
    server_.last().send(server_.event(kind::deleted, "/p/n"));
    settle();
    EXPECT_EQ(told, 0);
    EXPECT_TRUE(server_.last().open) << "what the server tells nevertheless is no fault";
}

TEST_F(SessionWatches, AreAllToldWhenTheSessionIsResumed) {
    int told = 0;
    const auto watching = watch_node("/p/n", told);
    lose_connection();
    EXPECT_EQ(told, 0);
    pass(how_.backoff_max);
    EXPECT_EQ(news_.back(), session_news::resumed);
    EXPECT_EQ(told, 1);
}

TEST_F(SessionWatches, AreAllToldWhenItHasEnded) {
    int told = 0;
    const auto watching = watch_node("/p/n", told);
    use();
    server_.stop();
    pass(6s);
    EXPECT_EQ(news_.back(), session_news::ended);
    EXPECT_EQ(told, 1);
}

TEST_F(SessionWatches, KeepASessionThatNobodyUsesOtherwise) {
    int told = 0;
    auto watching = watch_node("/p/n", told);
    pass(3600s);
    EXPECT_EQ(news_, std::vector{session_news::opened});
    watching->answer.reset();
    pass(3600s);
    EXPECT_EQ(news_.back(), session_news::ended);
    EXPECT_EQ(server_.visits.size(), 1u);
}

TEST_F(SessionWatches, TheChrootStandsBeforeTheirPaths) {
    how_.chroot = "/team";
    int told = 0;
    const auto watching = watch_node("/p/n", told);
    server_.last().send(server_.event(kind::deleted, "/p/n"));
    settle();
    EXPECT_EQ(told, 0);
    server_.last().send(server_.event(kind::deleted, "/team/p/n"));
    settle();
    EXPECT_EQ(told, 1);
}

} // namespace
} // namespace holdfast
