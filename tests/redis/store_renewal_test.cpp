// SPDX-License-Identifier: Apache-2.0
// Renewal in batches, release and the operator's view, on a server that answers what the test says.
#include "store/redis/inspector.hpp"
#include "store_fixture.hpp"
#include "support/renewed.hpp"

#include <deque>

namespace holdfast {
namespace {

using ::testing::ElementsAre;

class RedisStore : public on_scripted_node {
protected:
    /// The first so many of all that there are.
    hold_list holds(std::size_t count) {
        while (all_.size() < count) {
            const std::uint64_t i = all_.size();
            all_.emplace_back("L" + std::to_string(i), owner_id{{}, i}, lock_kind::plain);
            listed_.push_back(&all_.back());
        }
        return hold_list{listed_}.first(count);
    }
    void will_say(std::size_t count, std::int64_t held, duration takes = {}) {
        node_.will_answer(std::vector<std::int64_t>(count, held), takes);
    }

private:
    std::deque<hold> all_;
    std::vector<const hold*> listed_;
};

TEST_F(RedisStore, RenewingNothingAsksNothing) {
    EXPECT_TRUE(complete(support::renewed(store_, {}, duration{30'000})).empty());
    EXPECT_TRUE(node_.asked.empty());
}

TEST_F(RedisStore, ARenewalNamesEachOwner) {
    node_.will_answer({1, 0});
    const std::vector<answer> said = complete(support::renewed(store_, holds(2), duration{30'000}));
    ASSERT_EQ(said.size(), 2u);
    EXPECT_TRUE(said[0].granted);
    EXPECT_EQ(said[0].term, duration{30'000});
    EXPECT_FALSE(said[1].granted);
    EXPECT_EQ(node_.asked[0].script, "renew_leases");
    EXPECT_THAT(node_.asked[0].keys, ElementsAre("L0", "L1"));
    EXPECT_THAT(node_.asked[0].words,
                ElementsAre("30000", "00000000-0000-0000-0000-000000000000:", "0", "1"));
}

TEST_F(RedisStore, EachScriptIsForOneClient) {
    const hold mine{"L", alice_, lock_kind::plain};
    const hold another{"M", owner_id{{0xff}, 7}, lock_kind::plain};
    const hold* const both[] = {&mine, &another};
    node_.will_answer({0});
    node_.will_answer({1});
    const std::vector<answer> said = complete(support::renewed(store_, both, duration{30'000}));
    EXPECT_FALSE(said.at(0).granted);
    EXPECT_TRUE(said.at(1).granted);
    EXPECT_EQ(node_.asked.at(0).words.at(1) + node_.asked[0].words.at(2), to_string(alice_));
    EXPECT_EQ(node_.asked.at(1).words.at(1) + node_.asked[1].words.at(2), to_string(another.owner));
}

TEST_F(RedisStore, BatchesAreUnderWayTogetherAndAnswerInOrder) {
    will_say(100, 1, duration{50});
    will_say(100, 0, duration{10}); // the second overtakes the first
    will_say(50, 1, duration{30});
    const time_point before = clock_.now();
    const std::vector<answer> said =
        complete(support::renewed(store_, holds(250), duration{30'000}));
    EXPECT_EQ(clock_.now() - before, duration{50});
    EXPECT_EQ(node_.in_flight_max, 3);
    ASSERT_EQ(said.size(), 250u);
    for (std::size_t i = 0; i < said.size(); ++i)
        EXPECT_EQ(said[i].granted, i < 100 || i >= 200) << i;
}

TEST_F(RedisStore, ABatchThatFailsCallsNoHoldLostAndEndsAfterTheOthers) {
    will_say(100, 1, duration{50});
    node_.will_fail(make_error_code(errc::outcome_unknown), duration{10});
    const time_point before = clock_.now();
    EXPECT_EQ(failure_of(support::renewed(store_, holds(200), duration{30'000})),
              errc::outcome_unknown);
    EXPECT_EQ(clock_.now() - before, duration{50});
}

TEST_F(RedisStore, AnAnswerForAnotherNumberOfHoldsIsNotBelieved) {
    will_say(3, 1);
    EXPECT_EQ(failure_of(support::renewed(store_, holds(2), duration{30'000})),
              errc::outcome_unknown);
}

TEST_F(RedisStore, AReleaseSaysWhetherItWasStillOurs) {
    const hold mine{"L", alice_, lock_kind::plain};
    node_.will_answer({1, 3});
    EXPECT_TRUE(complete(store_.release(mine)));
    node_.will_answer({0, 0});
    EXPECT_FALSE(complete(store_.release(mine)));
    EXPECT_THAT(node_.asked[1].keys, ElementsAre("L"));
}

TEST_F(RedisStore, OnlyPlainLocksAreOffered) {
    EXPECT_TRUE(store_.offers(lock_kind::plain));
    for (const lock_kind other :
         {lock_kind::fair, lock_kind::fenced, lock_kind::read, lock_kind::write})
        EXPECT_FALSE(store_.offers(other));
    struct : doubter {
        void doubt() noexcept override {}
    } nobody;
    EXPECT_EQ(store_.watch_over(hold{"L", alice_, lock_kind::plain}, nobody), nullptr);
}

TEST_F(RedisStore, ObjectionsNameTheFormAndWhatIsAllowed) {
    EXPECT_EQ(store_.objection_to("orders:42"), std::nullopt);
    EXPECT_EQ(store_.objection_to(std::string(64 * 1024, 'x')), std::nullopt);
    EXPECT_EQ(store_.objection_to(""), "the name is empty");
    EXPECT_EQ(store_.objection_to(std::string(10'000'000, 'x')),
              "the name has 10000000 bytes, more than 65536");
    using ::testing::HasSubstr;
    EXPECT_THAT(*store_.objection_to("na}me"), HasSubstr("a '}' and no '{'"));
    EXPECT_THAT(*store_.objection_to("na{me"), HasSubstr("a '{' and no '}' behind it"));
    EXPECT_THAT(*store_.objection_to("{}"), HasSubstr("an empty '{}'"));
    EXPECT_THAT(*store_.objection_to("{}"), HasSubstr("'a{b}c'"));
}

TEST_F(RedisStore, TheInspectorRefusesAnswersOfOtherShapes) {
    redis::lock_inspector inspector{node_, context_};
    node_.will_answer({});
    EXPECT_EQ(complete(inspector.inspect("L")), std::nullopt);
    node_.will_answer({1});
    EXPECT_EQ(failure_of(inspector.force_release("L", {})), errc::outcome_unknown);
}

} // namespace
} // namespace holdfast
