// SPDX-License-Identifier: Apache-2.0
// When a waiter accepts the message that a release has granted the lock to it.
#include "store/redis/lock_requests.hpp"
#include "store/redis/names.hpp"
#include "store_fixture.hpp"

namespace holdfast {
namespace {

class HandOffPlace : public on_scripted_node {
protected:
    HandOffPlace() {
        node_.hands_off = true;
        wanted_.renewed = true;
    }

    answer look() { return complete(place().look()); }
    redis::lock_place& place() {
        if (!place_)
            place_ = store_.line_up(wanted_, *wake_);
        return dynamic_cast<redis::lock_place&>(*place_);
    }

    /// The server will reply that the lock is busy, and that the owner is in the queue or not.
    void will_be_busy(bool queued) { node_.will_answer({0, 20'000, server_time, queued, 0}); }

    /// The waiter joins the queue with its second request, which has the number 1.
    void join() {
        will_be_busy(false);
        will_be_busy(true);
        look();
        look();
        ASSERT_EQ(number_of_last_request(), "1");
    }
    std::string number_of_last_request() { return node_.asked.back().words.at(2); }

    void receive(std::uint64_t number, const std::string& token = "") {
        node_.last_messages[redis::inbox(wanted_).text] =
            std::to_string(alice_.number) + ' ' + std::to_string(number % 1024) + token;
    }

    ask wanted_ = want(duration::max());
    std::unique_ptr<holdfast::place> place_;
};

TEST_F(HandOffPlace, GrantOfTheLastRequestIsBelievedAndCountsFromThatRequest) {
    join();
    const time_point asked_at = node_.asked.back().at;
    clock_.run_for(duration{500});
    receive(1);
    const std::size_t sent = node_.asked.size();
    const answer said = look();
    EXPECT_TRUE(said.granted);
    EXPECT_EQ(said.counts_from, asked_at);
    EXPECT_EQ(said.term, redis::handed_over_lease);
    EXPECT_EQ(node_.asked.size(), sent) << "no request is needed";
    EXPECT_TRUE(place().must_leave());
}

TEST_F(HandOffPlace, GrantOfAFencedLockHasTheTokenOfTheMessage) {
    wanted_.kind = lock_kind::fenced;
    wanted_.tokens = 3;
    join();
    receive(1, " 4711");
    const answer said = look();
    EXPECT_TRUE(said.granted);
    EXPECT_EQ(said.token, 4711u);
    EXPECT_EQ(said.tokens, redis::queue_tokens);
}

TEST_F(HandOffPlace, GrantOfAFencedLockWithoutATokenIsConfirmedByARequest) {
    wanted_.kind = lock_kind::fenced;
    join();
    for (const char* const token : {"", " ", " 0", " -1", " 5 ", " x", "1"}) {
        receive(static_cast<std::uint64_t>(node_.asked.size() - 1), token);
        will_be_busy(true);
        EXPECT_FALSE(look().granted) << token;
    }
}

TEST_F(HandOffPlace, GrantOfAnotherRequestIsConfirmedByARequest) {
    join();
    int sent = 1;
    for (const std::uint64_t number : {0, 5, 7}) {
        receive(number);
        will_be_busy(true);
        EXPECT_FALSE(look().granted) << number;
        EXPECT_EQ(number_of_last_request(), std::to_string(++sent));
    }
}

TEST_F(HandOffPlace, GrantOfAFixedLeaseIsConfirmedByARequest) {
    wanted_.renewed = false;
    join();
    receive(1);
    node_.will_answer({1, 0, server_time, 0, 0});
    const std::size_t sent = node_.asked.size();
    const answer said = look();
    EXPECT_TRUE(said.granted);
    EXPECT_FALSE(said.counts_from);
    EXPECT_EQ(node_.asked.size(), sent + 1);
}

TEST_F(HandOffPlace, EachRequestContainsTheDeadlineOfTheCall) {
    wanted_.give_up_at = clock_.now() + duration{60'000};
    join();
    node_.confirms_after.reset();
    will_be_busy(false);
    look();
    ASSERT_EQ(number_of_last_request(), "0") << "outside the queue";
    ASSERT_EQ(node_.asked.size(), 3u);
    for (const auto& each : node_.asked)
        EXPECT_EQ(each.deadline_of_call, wanted_.give_up_at);
}

// The message may come from a former primary, and the request outside the queue from the new one.
TEST_F(HandOffPlace, GrantIsNotBelievedAfterARequestOutsideTheQueue) {
    join();
    node_.confirms_after.reset();
    will_be_busy(false);
    EXPECT_FALSE(look().granted);
    EXPECT_EQ(number_of_last_request(), "0");
    receive(1);
    will_be_busy(false);
    EXPECT_FALSE(look().granted);
}

TEST_F(HandOffPlace, EntryIsRemovedAtTheEndAlsoAfterARequestOutsideTheQueue) {
    join();
    node_.confirms_after.reset();
    will_be_busy(false);
    look();
    EXPECT_TRUE(place().must_leave());
    node_.will_answer({0, 0, 0});
    complete(place().leave());
    EXPECT_EQ(node_.asked.back().script, "release_to_queue");
}

// The queue counts the requests modulo 1024, so such a message could be an old one.
TEST_F(HandOffPlace, GrantIsNotBelievedIfItsNumberIsNotUnique) {
    join();
    for (int number = 2; number <= 1029; ++number) {
        will_be_busy(true);
        ASSERT_FALSE(look().granted);
    }
    ASSERT_EQ(number_of_last_request(), "1029");
    receive(5);
    will_be_busy(true);
    EXPECT_FALSE(look().granted);
    EXPECT_EQ(number_of_last_request(), "1030");
}

} // namespace
} // namespace holdfast
