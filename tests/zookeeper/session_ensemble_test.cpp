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
    void share_sessions() {
        for (fake_zookeeper* one : all())
            one->sessions = {id()};
    }

    fake_zookeeper second_{io_}, third_{io_};
};

TEST_F(SessionEnsemble, GoesOnAtTheNextServerAtOnce) {
    use();
    settle();
    share_sessions();
    fake_zookeeper* const first = present();
    ASSERT_TRUE(first);
    first->stop();
    settle();
    ASSERT_TRUE(present());
    EXPECT_NE(present(), first);
    EXPECT_THAT(news_,
                ElementsAre(session_news::opened, session_news::suspended, session_news::resumed));
}

TEST_F(SessionEnsemble, ASilentServerCostsASixthOfTheTimeoutAndNoHold) {
    use();
    settle();
    pass(10s);
    share_sessions();
    fake_zookeeper* const first = present();
    first->answers = false;
    for (int i = 0; i < 100; ++i) {
        pass(100ms);
        EXPECT_GT(left(), 0ms);
    }
    EXPECT_NE(present(), first);
    EXPECT_THAT(news_,
                ElementsAre(session_news::opened, session_news::suspended, session_news::resumed));
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
