// SPDX-License-Identifier: Apache-2.0
// What a server denies and locks can do without: the observer hears of it once.
#include "store_fixture.hpp"
#include "support/recorder.hpp"

namespace holdfast {
namespace {

using ::testing::HasSubstr;

class StoreDenied : public on_scripted_node {
protected:
    StoreDenied() {
        context_.tell = [this](const event& what) { told_.notify(what); };
    }

    bool take() { return complete(store_.line_up(want(duration::max()), *wake_)->look()).granted; }

    support::recorder told_;
};

TEST_F(StoreDenied, NothingTellsNothing) {
    node_.will_answer({1, 0, server_time});
    EXPECT_TRUE(take());
    node_.will_answer({1, 0});
    EXPECT_TRUE(complete(store_.release(want({}))));
    node_.will_answer({0, 0});
    EXPECT_FALSE(complete(store_.release(want({}))));
    EXPECT_TRUE(told_.all().empty());
}

TEST_F(StoreDenied, TimeLocksStillWorkAndThePriceIsToldOnce) {
    for (int i = 0; i < 3; ++i) {
        node_.will_answer({1, 0, 0});
        EXPECT_TRUE(take());
    }
    ASSERT_EQ(told_.all().size(), 1u);
    const support::told told = told_.last(event_kind::impaired).value();
    EXPECT_EQ(told.name, "L");
    EXPECT_EQ(told.code, errc::refused);
    EXPECT_THAT(told.text, HasSubstr("granted: +time"));
}

TEST_F(StoreDenied, PublishLocksAreStillReleasedAndThePriceIsToldOnce) {
    for (int i = 0; i < 3; ++i) {
        node_.will_answer({1, -1});
        EXPECT_TRUE(complete(store_.release(want({}))));
    }
    ASSERT_EQ(told_.all().size(), 1u);
    EXPECT_THAT(told_.last(event_kind::impaired).value().text,
                HasSubstr("granted: +publish &redisson_lock__channel:{L}"));
}

TEST_F(StoreDenied, PublishOfWhatAPlaceGivesBackIsToldToo) {
    const auto spot = store_.line_up(want(duration::max()), *wake_);
    node_.will_answer({1, 0, server_time});
    EXPECT_TRUE(complete(spot->look()).granted);
    node_.will_answer({1, -1});
    complete(spot->leave());
    EXPECT_EQ(told_.count(event_kind::impaired), 1u);
}

} // namespace
} // namespace holdfast
