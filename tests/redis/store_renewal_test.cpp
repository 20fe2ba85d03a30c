// SPDX-License-Identifier: Apache-2.0
// Renewal in batches, release and the operator's view, on a server that answers what the test says.
#include "store/redis/inspector.hpp"
#include "store_fixture.hpp"
#include "support/renewed.hpp"

#include <algorithm>
#include <deque>
#include <set>

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

    /// Each script that names one of these fails; the others say that all is held.
    void refuse_names(std::set<std::string> names, error_code why) {
        node_.decide = [names = std::move(names), why](const scripted_node::request& made) {
            scripted_node::outcome next;
            const auto forbidden = [&](const std::string& each) { return names.contains(each); };
            if (std::ranges::any_of(made.keys, forbidden))
                next.failure = why;
            next.answer = scripted_node::array_of(numbers(made.keys.size(), 1));
            return std::optional{std::move(next)};
        };
    }

private:
    using numbers = std::vector<std::int64_t>;
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

TEST_F(RedisStore, WhatWasAnsweredCountsThoughAnotherBatchWasNot) {
    will_say(100, 1, duration{50});
    node_.will_fail(make_error_code(errc::outcome_unknown), duration{10});
    support::renewal_record said{200};
    complete(store_.renew(holds(200), {.lease_time = duration{30'000}}, said));
    for (std::size_t i = 0; i < 200; ++i) {
        EXPECT_EQ(said.said[i].has_value(), i < 100) << i;
        EXPECT_EQ(said.failures[i].has_value(), i >= 100) << i;
    }
}

TEST_F(RedisStore, ANameThatIsRefusedTakesNoOtherWithIt) {
    refuse_names({"L7", "L333", "L334"}, make_error_code(store_errc::no_permission));
    support::renewal_record said{500};
    complete(store_.renew(holds(500), {.lease_time = duration{30'000}}, said));
    for (std::size_t i = 0; i < 500; ++i) {
        const bool guilty = i == 7 || i == 333 || i == 334;
        ASSERT_NE(said.failures[i].has_value(), said.said[i].has_value()) << i;
        EXPECT_EQ(said.failures[i].has_value(), guilty) << i;
        if (guilty)
            EXPECT_EQ(said.failures[i]->code(), make_error_code(store_errc::no_permission));
        else
            EXPECT_TRUE(said.said[i]->granted) << i;
    }
    EXPECT_EQ(node_.asked.size(), 5u + 2 * 20);
}

TEST_F(RedisStore, WhateverARefusalIsCalledItMayBeAboutOneName) {
    for (const store_errc why :
         {store_errc::no_permission, store_errc::wrong_type, store_errc::other}) {
        refuse_names({"L1"}, make_error_code(why));
        support::renewal_record said{3};
        complete(store_.renew(holds(3), {.lease_time = duration{30'000}}, said));
        EXPECT_TRUE(said.said[0] && said.failures[1] && said.said[2]) << make_error_code(why);
    }
}

TEST_F(RedisStore, ARefusalIsPursuedWithABoundedNumberOfRequests) {
    std::set<std::string> all;
    for (int i = 0; i < 100; ++i)
        all.insert("L" + std::to_string(i));
    refuse_names(std::move(all), make_error_code(store_errc::other));
    EXPECT_EQ(failure_of(support::renewed(store_, holds(100), duration{30'000})), errc::refused);
    EXPECT_EQ(node_.asked.size(), 1u + 10 + 100);
}

TEST_F(RedisStore, ARefusalOfEverythingIsNotRepeated) {
    for (const store_errc why : {store_errc::out_of_memory, store_errc::not_authenticated}) {
        node_.asked.clear();
        node_.will_fail(make_error_code(why));
        EXPECT_EQ(failure_of(support::renewed(store_, holds(100), duration{30'000})),
                  errc::refused);
        EXPECT_EQ(node_.asked.size(), 1u);
    }
}

TEST_F(RedisStore, RenewalsAndReleasesTellTheirWishes) {
    const time_point soon = clock_.now() + duration{700};
    support::renewal_record said{1};
    will_say(1, 1);
    complete(store_.renew(
        holds(1), {.lease_time = duration{30'000}, .answer_by = soon, .elsewhere = true}, said));
    EXPECT_EQ(node_.asked[0].wishes.answer_by, soon);
    EXPECT_TRUE(node_.asked[0].wishes.elsewhere);
    EXPECT_TRUE(node_.asked[0].wishes.reserved);
    node_.will_answer({1, 0});
    EXPECT_TRUE(complete(store_.release({"L", alice_, lock_kind::plain})));
    EXPECT_TRUE(node_.asked[1].wishes.reserved);
    node_.will_answer({1, 0, 0});
    EXPECT_TRUE(complete(store_.line_up(want(duration::max()), *wake_)->look()).granted);
    EXPECT_FALSE(node_.asked[2].wishes.reserved);
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

TEST_F(RedisStore, AReleaseSaysWhetherOthersListen) {
    const hold mine{"L", alice_, lock_kind::plain};
    for (const std::int64_t receivers : {0, 1, 2}) {
        node_.will_answer({1, receivers});
        EXPECT_EQ(complete(store_.release(mine)).others_listen, receivers > 0) << receivers;
    }
}

TEST_F(RedisStore, OffersEveryKind) {
    for (const lock_kind kept :
         {lock_kind::plain, lock_kind::spin, lock_kind::fenced, lock_kind::fair, lock_kind::read,
          lock_kind::write, lock_kind::token, lock_kind::permit})
        EXPECT_TRUE(store_.offers(kept));
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
