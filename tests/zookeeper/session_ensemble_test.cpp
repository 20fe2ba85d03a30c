// SPDX-License-Identifier: Apache-2.0
// A session at one of several servers, and at the next one.
#include "session_fixture.hpp"

#include <holdfast/error.hpp>

#include <algorithm>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SessionEnsemble : public on_fake_zookeeper {
protected:
    SessionEnsemble() {
        how_.servers.clear();
        for (const fake_zookeeper* one : {&server_, &second_, &third_})
            how_.servers.push_back({one->path(), 1});
    }
    void stop_servers() override {
        for (fake_zookeeper* one : all())
            one->stop();
    }
    std::vector<fake_zookeeper*> all() { return {&server_, &second_, &third_}; }

    /// The one that the client is connected to; null: none, or several.
    fake_zookeeper* present() {
        std::vector<fake_zookeeper*> in_use;
        for (fake_zookeeper* one : all())
            if (std::ranges::any_of(one->visits, [](const auto& v) { return v->open; }))
                in_use.push_back(one);
        return in_use.size() == 1 ? in_use.front() : nullptr;
    }
    /// The server at which the session was opened.
    fake_zookeeper* open_known_to_all() {
        use();
        settle();
        for (fake_zookeeper* one : all())
            one->sessions = {id()};
        return present();
    }

    fake_zookeeper second_{io_}, third_{io_};
};

TEST_F(SessionEnsemble, GoesOnAtTheNextServerAtOnce) {
    fake_zookeeper* const first = open_known_to_all();
    ASSERT_TRUE(first);
    first->stop();
    settle();
    ASSERT_TRUE(present());
    EXPECT_NE(present(), first);
    EXPECT_THAT(news_,
                ElementsAre(session_news::opened, session_news::suspended, session_news::resumed));
}

TEST_F(SessionEnsemble, ASilentServerCostsASixthOfTheTimeoutAndNoHold) {
    fake_zookeeper* const first = open_known_to_all();
    pass(10s);
    first->answers = false;
    for (int i = 0; i < 100; ++i) {
        pass(100ms);
        EXPECT_GT(left(), 0ms);
    }
    EXPECT_NE(present(), first);
    EXPECT_THAT(news_,
                ElementsAre(session_news::opened, session_news::suspended, session_news::resumed));
}

TEST_F(SessionEnsemble, ARenewalThatNobodyAnsweredGoesOverAnotherServerInTime) {
    fake_zookeeper* const first = open_known_to_all();
    pass(10s);
    first->answers = false;
    const duration renewed_each = 300ms;
    bool renewed = false;
    for (time_point began = clock_.now(); !renewed && clock_.now() < began + 6s;) {
        const auto asked = confirm({"/a"}, clock_.now() + renewed_each);
        pass(renewed_each);
        ASSERT_TRUE(asked->done);
        renewed = !asked->code;
    }
    EXPECT_TRUE(renewed);
    EXPECT_NE(present(), first);
    EXPECT_GT(left(), session().state().timeout / 4);
}

TEST_F(SessionEnsemble, AVisitIsNoFailureAndShutsNobodyOut) {
    second_.stop();
    third_.greets = false;
    const auto seen = begin(session().look_around());
    pass(3 * how_.connect_timeout);
    ASSERT_TRUE(seen->answer) << seen->text;
    ASSERT_EQ(seen->answer->servers.size(), 3u);
    for (const zookeeper::server_seen& each : seen->answer->servers)
        EXPECT_NE(each.trouble, "") << each.address;
    EXPECT_EQ(session().state().id, 0) << "it needs no session";
    EXPECT_THAT(news_, ::testing::IsEmpty());
}

TEST_F(SessionEnsemble, AVisitEndsWithTheClient) {
    const auto seen = begin(session().look_around());
    EXPECT_FALSE(seen->done);
    close();
    settle();
    EXPECT_EQ(seen->code, errc::closed);
}

TEST_F(SessionEnsemble, ACallWaitsForAServerWhereThereAreSeveral) {
    for (fake_zookeeper* one : all())
        one->stop();
    const auto listed = list();
    pass(500ms);
    EXPECT_FALSE(listed->done) << "a failover takes as long";
    third_.start();
    pass(how_.backoff_max);
    EXPECT_TRUE(listed->answer) << listed->text;
}

TEST_F(SessionEnsemble, ACallEndsInTimeWhereNoneOfThemServes) {
    for (fake_zookeeper* one : all())
        one->stop();
    const auto listed = list();
    pass(how_.command_timeout);
    EXPECT_EQ(listed->code, errc::unreachable);
    EXPECT_THAT(listed->text, HasSubstr("no connection to"));
}

TEST_F(SessionEnsemble, AServerThatAcceptsAndSaysNothingIsPassed) {
    for (fake_zookeeper* one : all())
        one->greets = one == &third_;
    const auto listed = list();
    pass(2 * how_.connect_timeout / 3);
    EXPECT_TRUE(listed->answer) << listed->text;
}

} // namespace
} // namespace holdfast
