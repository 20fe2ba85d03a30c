// SPDX-License-Identifier: Apache-2.0
// Answers that no script of holdfast gives: not believed, and the connection they came by is not
// trusted any more.
#include "store/redis/client_cards.hpp"
#include "store/redis/examination.hpp"
#include "store/redis/inspector.hpp"
#include "store/redis/name_finder.hpp"
#include "store_fixture.hpp"
#include "support/renewed.hpp"

#include <functional>

namespace holdfast {
namespace {

class StrangeAnswers : public on_scripted_node {
protected:
    redis::reply text(std::string words) const {
        redis::reply made;
        made.type = redis::reply::kind::text;
        made.text = std::move(words);
        return made;
    }
    /// Each request is answered so.
    void answer(const redis::reply& all) {
        node_.decide = [all](const scripted_node::request&) {
            return std::optional{scripted_node::outcome{.answer = all}};
        };
    }
    std::unique_ptr<place> fenced() {
        ask made = want(duration::max());
        made.kind = lock_kind::fenced;
        made.tokens = 5;
        made.numbers = fencing::dated;
        return store_.line_up(std::move(made), *wake_);
    }
    redis::lock_inspector inspector_{node_, context_};
};

TEST_F(StrangeAnswers, ToEachScriptEndTheConnection) {
    const hold mine{"L", alice_, lock_kind::plain};
    const hold* const held[] = {&mine};
    const std::vector<std::string> one{"holdfast_client:x"};
    const std::vector<std::function<error_code()>> calls{
        [&] { return failure_of(store_.line_up(want(duration::max()), *wake_)->look()); },
        [&] { return failure_of(store_.release(mine)); },
        [&] { return failure_of(support::renewed(store_, held, duration{1})); },
        [&] { return failure_of(inspector_.inspect("L")); },
        [&] { return failure_of(inspector_.force_release("L", {})); },
        [&] { return failure_of(inspector_.describe("L")); },
        [&] { return failure_of(inspector_.list("*", 1)); },
        [&] { return failure_of(redis::read_clients(node_, one)); },
        [&] { return failure_of(fenced()->look()); },
        [&] { return failure_of(inspector_.last_token("L")); },
    };
    for (std::size_t i = 0; i < calls.size(); ++i) {
        for (const redis::reply& each :
             {text("OK"), scripted_node::array_of({9, 9, 9, 9}), redis::reply{}}) {
            node_.distrusted = 0;
            answer(each);
            EXPECT_EQ(calls[i](), make_error_code(store_errc::protocol)) << i;
            EXPECT_EQ(node_.distrusted, 1) << i;
        }
    }
}

TEST_F(StrangeAnswers, NumbersThatMeanNothingAreStrange) {
    const hold mine{"L", alice_, lock_kind::plain};
    answer(scripted_node::array_of({3, 0, 0}));
    EXPECT_EQ(failure_of(store_.line_up(want(duration::max()), *wake_)->look()),
              make_error_code(store_errc::protocol));
    answer(scripted_node::array_of({2, 0}));
    EXPECT_EQ(failure_of(store_.release(mine)), make_error_code(store_errc::protocol));
    answer(scripted_node::array_of({4, 0}));
    EXPECT_EQ(failure_of(inspector_.force_release("L", {})), make_error_code(store_errc::protocol));
    answer(scripted_node::array_of({2}));
    const hold* const held[] = {&mine};
    EXPECT_EQ(failure_of(support::renewed(store_, held, duration{1})),
              make_error_code(store_errc::protocol));
    EXPECT_EQ(node_.distrusted, 4);
}

TEST_F(StrangeAnswers, TokensThatNobodyCanHaveAreStrange) {
    const std::vector<std::vector<std::int64_t>> strange{
        {1, 0, server_time, 0},  // granted, without a token
        {1, 0, server_time, -1}, // as Redisson says of a lock without an end
        {0, 20'000, server_time, 7},
        {2, 0, server_time, 7},
        {1, 0, server_time}};
    for (const std::vector<std::int64_t>& each : strange) {
        node_.distrusted = 0;
        answer(scripted_node::array_of(each));
        EXPECT_EQ(failure_of(fenced()->look()), make_error_code(store_errc::protocol));
        EXPECT_EQ(node_.distrusted, 1);
    }
    redis::reply negative;
    negative.type = redis::reply::kind::integer;
    negative.integer = -1;
    answer(negative);
    EXPECT_EQ(failure_of(inspector_.last_token("L")), make_error_code(store_errc::protocol));
}

TEST_F(StrangeAnswers, AReleaseThatIsToldToNobodyHasNoHearers) {
    for (const std::int64_t hearers : {-1, 1}) {
        answer(scripted_node::array_of({1, hearers}));
        EXPECT_EQ(failure_of(store_.release({"L", alice_, lock_kind::spin})),
                  make_error_code(store_errc::protocol));
    }
}

TEST_F(StrangeAnswers, AnErrorIsNoneOfThem) {
    node_.will_fail(make_error_code(errc::outcome_unknown));
    EXPECT_EQ(failure_of(store_.release({"L", alice_, lock_kind::plain})), errc::outcome_unknown);
    EXPECT_EQ(node_.distrusted, 0);
}

class Fenced : public StrangeAnswers {};

TEST_F(Fenced, IsAskedWithItsTokensAndTheAnswerHasTheFirst) {
    answer(scripted_node::array_of({1, 0, server_time, 41}));
    const auto spot = fenced();
    const holdfast::answer said = complete(spot->look());
    EXPECT_EQ(said.token, 41u);
    EXPECT_EQ(said.tokens, 5u);
    EXPECT_EQ(node_.asked.at(0).script, "lock_fenced");
    EXPECT_THAT(node_.asked[0].keys, ::testing::ElementsAre("L", "redisson_lock_token:{L}"));
    EXPECT_THAT(node_.asked[0].words, ::testing::ElementsAre("30000", to_string(alice_), "5", "1"));
}

TEST_F(Fenced, KeepsItsTokensBesideANameWithATag) {
    redis::reply none;
    none.type = redis::reply::kind::integer;
    answer(none);
    EXPECT_EQ(complete(inspector_.last_token("a{b}c")), 0u);
    EXPECT_THAT(node_.asked.at(0).keys, ::testing::ElementsAre("redisson_lock_token:a{b}c"));
}

class Forced : public StrangeAnswers {};

TEST_F(Forced, NamesWhomItIsTakenFromAndWhoIsToBeTold) {
    answer(scripted_node::array_of({1, server_time}));
    EXPECT_TRUE(complete(inspector_.force_release("L", "bob:1")).was_locked);
    EXPECT_THAT(node_.asked.at(0).words,
                ::testing::ElementsAre("bob:1", "PUBLISH", "redisson_lock__channel:{L}",
                                       "redisson_rwlock:{L}", "redisson_lock_queue:{L}",
                                       "redisson_lock_timeout:{L}", "", "holdfast_token_lock:{L}"));
    EXPECT_EQ(node_.asked[0].deadline, clock_.now() + node_.command_timeout());
}

TEST_F(Forced, OfWhatIsOthersTookNothingAndSaysWhoseItIs) {
    redis::reply said = scripted_node::array_of({3, server_time});
    said.items.push_back(text("alice:7"));
    answer(said);
    const forced outcome = complete(inspector_.force_release("L", "bob:1"));
    EXPECT_FALSE(outcome.was_locked);
    EXPECT_THAT(outcome.owners, ::testing::ElementsAre("alice:7"));
}

TEST_F(Forced, TeachesTheServersClock) {
    answer(scripted_node::array_of({1, server_time}));
    EXPECT_FALSE(node_.server_clock().no_later_than(clock_.now()));
    complete(inspector_.force_release("L", {}));
    EXPECT_TRUE(node_.server_clock().no_later_than(clock_.now()));
}

TEST_F(StrangeAnswers, AForceThatIsLateIsAskedOnceMoreAndThenFails) {
    answer(scripted_node::array_of({2, server_time}));
    EXPECT_EQ(failure_of(inspector_.force_release("L", {})), errc::clock_unstable);
    EXPECT_EQ(node_.asked.size(), 2u);
    EXPECT_EQ(node_.asked[0].script, "force_lock");
    EXPECT_EQ(node_.asked[0].deadline, clock_.now() + node_.command_timeout());
    EXPECT_EQ(node_.distrusted, 0);
}

} // namespace
} // namespace holdfast
