// SPDX-License-Identifier: Apache-2.0
#include "redis/mouth/pipeline.hpp"

#include <gmock/gmock.h>

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using stage = request::stage;

constexpr script any{"any", "sha", "text"};

class Pipeline : public ::testing::Test {
protected:
    ~Pipeline() override {
        while (request* left = all_.oldest())
            all_.forget(*left);
    }
    static time_point at(int ms) { return time_point{duration{ms}}; }
    /// Each may wait for ten.
    void ask(request& asked, int now) { all_.ask(asked, at(now), 10ms); }
    request* write(int now = 0) { return all_.next_to_write(at(now)); }

    request a_{any, {}, {}}, b_{any, {}, {}}, c_{any, {}, {}};
    pipeline all_;
};

TEST_F(Pipeline, MatchesAnswersInTheOrderOfWriting) {
    ask(a_, 10);
    ask(b_, 11);
    EXPECT_EQ(write(1), &a_);
    EXPECT_EQ(write(2), &b_);
    EXPECT_EQ(write(), nullptr);
    const auto first = all_.answered();
    ASSERT_TRUE(first);
    EXPECT_EQ(first->asker, &a_);
    EXPECT_EQ(first->sent_at, at(1));
    all_.forget(a_);
    EXPECT_EQ(all_.answered()->asker, &b_);
}

TEST_F(Pipeline, NobodyAskedForAnAnswerToNothing) {
    EXPECT_FALSE(all_.answered());
    ask(a_, 10);
    EXPECT_FALSE(all_.answered()); // it was not even written
}

TEST_F(Pipeline, WhoGivesUpBeforeWritingIsNeverSent) {
    ask(a_, 10);
    ask(b_, 11);
    all_.forget(a_);
    EXPECT_EQ(write(), &b_);
    EXPECT_EQ(all_.size(), 1u);
}

TEST_F(Pipeline, TheAnswerToWhoGaveUpIsNobodysAndShiftsNoOther) {
    ask(a_, 10);
    ask(b_, 11);
    write(1);
    write(2);
    all_.forget(a_);
    EXPECT_EQ(all_.size(), 2u); // the server still owes both
    EXPECT_EQ(all_.owed_since(), at(1));
    EXPECT_EQ(all_.answered()->asker, nullptr);
    EXPECT_EQ(all_.answered()->asker, &b_);
    EXPECT_FALSE(all_.owed_since());
}

TEST_F(Pipeline, TheOldestIsWhoeverAskedFirstWhereverItStands) {
    EXPECT_EQ(all_.oldest(), nullptr);
    ask(a_, 10);
    ask(b_, 11);
    write();
    EXPECT_EQ(all_.oldest(), &a_);
    all_.forget(a_);
    EXPECT_EQ(all_.oldest(), &b_);
}

TEST_F(Pipeline, WhoMustBeSentAgainGoesBeforeWhoAskedLater) {
    ask(a_, 10);
    ask(b_, 11);
    write();
    write();
    ask(c_, 12);
    all_.answered();
    all_.ask_again(a_);
    all_.answered();
    all_.ask_again(b_);
    EXPECT_EQ(all_.oldest(), &a_);
    EXPECT_EQ(write(), &a_);
    EXPECT_EQ(write(), &b_);
    EXPECT_EQ(write(), &c_);
}

TEST_F(Pipeline, WhoHasLessTimeIsTheOldestFirst) {
    request soon{any, {}, {}, {.answer_by = at(5)}}, sooner{any, {}, {}, {.answer_by = at(4)}};
    ask(a_, 0);
    ask(soon, 1);
    ask(sooner, 2);
    EXPECT_EQ(all_.oldest(), &sooner);
    all_.give_up(sooner);
    EXPECT_EQ(all_.oldest(), &soon);
    EXPECT_EQ(soon.deadline, at(5));
    all_.give_up(soon);
    EXPECT_EQ(all_.oldest(), &a_);
    EXPECT_FALSE(all_.owes_what_was_given_up()); // nothing of it was written
}

TEST_F(Pipeline, ALimitBehindTheUsualOneIsNone) {
    request patient{any, {}, {}, {.answer_by = at(1000)}};
    ask(patient, 0);
    EXPECT_EQ(patient.deadline, at(10));
    all_.forget(patient);
}

TEST_F(Pipeline, KnowsThatSomebodyHasGivenUpUntilTheAnswerComes) {
    ask(a_, 0);
    ask(b_, 1);
    write();
    write();
    all_.give_up(b_);
    EXPECT_TRUE(all_.owes_what_was_given_up());
    all_.answered();
    all_.forget(a_);
    EXPECT_TRUE(all_.owes_what_was_given_up());
    all_.answered();
    EXPECT_FALSE(all_.owes_what_was_given_up());
    ask(c_, 2);
    write();
    all_.give_up(c_);
    all_.drop_written();
    EXPECT_FALSE(all_.owes_what_was_given_up());
}

TEST_F(Pipeline, WithTheConnectionGoTheAnswersAndNotTheQueue) {
    ask(a_, 10);
    ask(b_, 11);
    ask(c_, 12);
    write();
    write();
    all_.forget(a_);
    EXPECT_THAT(all_.drop_written(), ElementsAre(&b_));
    EXPECT_EQ(b_.standing, stage::apart);
    EXPECT_FALSE(all_.answered());
    EXPECT_EQ(write(5), &c_); // on the next connection
    EXPECT_EQ(all_.answered()->asker, &c_);
}

TEST_F(Pipeline, WithoutAConnectionTheQueueIsDropped) {
    ask(a_, 10);
    ask(b_, 11);
    write();
    EXPECT_THAT(all_.drop_queued(), ElementsAre(&b_));
    EXPECT_FALSE(all_.anything_queued());
    EXPECT_EQ(all_.oldest(), &a_);
}

} // namespace
} // namespace holdfast::redis
