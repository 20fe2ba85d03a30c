// SPDX-License-Identifier: Apache-2.0
// What the store asks about a lock that is a string, and how soon again: other programs that hold
// it tell nobody.
#include "store_fixture.hpp"

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

class StoreToken : public on_scripted_node {
protected:
    static constexpr std::int64_t ours = 1, of_others = 0;

    std::unique_ptr<place> in_line() {
        ask made{lock_name{"L"}, alice_, lock_kind::token};
        made.lease_time = 30s;
        made.give_up_at = time_point::max();
        return store_.line_up(made, *wake_);
    }
    answer busy(place& spot, std::int64_t left, std::int64_t whose) {
        node_.will_answer({0, left, server_time, whose});
        return complete(spot.look());
    }

    const std::string alice_text_ = to_string(alice_);
};

TEST_F(StoreToken, RequestsNameTheOwnerAndItsChannel) {
    const auto spot = in_line();
    node_.will_answer({1, 0, server_time, 0});
    EXPECT_TRUE(complete(spot->look()).granted);
    EXPECT_EQ(node_.asked.back().script, "lock_token");
    EXPECT_THAT(node_.asked.back().keys, ElementsAre("L"));
    EXPECT_THAT(node_.asked.back().words, ElementsAre("30000", alice_text_));
    node_.will_answer({1, 0});
    EXPECT_TRUE(complete(store_.release({"L", alice_, lock_kind::token})));
    EXPECT_EQ(node_.asked.back().script, "release_token");
    EXPECT_THAT(node_.asked.back().words,
                ElementsAre(alice_text_, "holdfast_token_lock:{L}", "PUBLISH"));
    EXPECT_TRUE(node_.asked.back().wishes.reserved) << "there is room for it";
}

TEST_F(StoreToken, BehindOneOfOursItListensAndSleepsAsForAMutex) {
    const auto spot = in_line();
    EXPECT_EQ(busy(*spot, 20'000, ours).term, 0ms);
    EXPECT_EQ(busy(*spot, 20'000, ours).term, context_.poll_bound);
    EXPECT_EQ(node_.listeners.count("holdfast_token_lock:{L}"), 1u);
}

TEST_F(StoreToken, BehindAnotherProgramItAsksFourTimesASecondAndAtTheEndOfItsLease) {
    const auto spot = in_line();
    EXPECT_EQ(busy(*spot, 20'000, of_others).term, 0ms);
    EXPECT_EQ(busy(*spot, 20'000, of_others).term, 250ms);
    EXPECT_EQ(busy(*spot, -1, of_others).term, 250ms) << "a key without a lease";
    EXPECT_EQ(busy(*spot, 100, of_others).term, 102ms);
    EXPECT_EQ(busy(*spot, 20'000, ours).term, context_.poll_bound) << "one of ours was next";
    context_.random = [] { return 50; };
    EXPECT_EQ(busy(*spot, -1, of_others).term, 200ms) << "jittered";
    context_.random = [] { return 0; };
    context_.poll_bound = 100ms;
    EXPECT_EQ(busy(*spot, -1, of_others).term, 100ms) << "who asks more often goes on";
}

TEST_F(StoreToken, AnAnswerOfAnotherShapeIsNotBelieved) {
    for (const std::vector<std::int64_t>& odd :
         {std::vector<std::int64_t>{1, 0, server_time}, {0, 0, server_time, 2}}) {
        node_.will_answer(odd);
        EXPECT_EQ(failure_of(in_line()->look()), make_error_code(store_errc::protocol));
    }
}

TEST_F(StoreToken, ItsHoldsAreRenewedByAScriptOfTheirOwn) {
    const hold one{"L", alice_, lock_kind::token}, two{"M", alice_, lock_kind::plain};
    const hold* const held[] = {&one, &two};
    struct : renewal_sink {
        void renewed(std::size_t which, const answer& got) override {
            all.emplace_back(which, got.granted);
        }
        void failed(std::size_t, const boost::system::system_error&) override { FAIL(); }
        std::vector<std::pair<std::size_t, bool>> all;
    } told;
    node_.decide = [](const scripted_node::request&) {
        return scripted_node::outcome{.answer = scripted_node::array_of({1})};
    };
    const time_point soon = clock_.now() + 700ms;
    complete(store_.renew(held, {.lease_time = 30s, .answer_by = soon, .elsewhere = true}, told));
    EXPECT_THAT(told.all, ::testing::UnorderedElementsAre(std::pair{0, true}, std::pair{1, true}));
    ASSERT_EQ(node_.asked.size(), 2u);
    const bool first = node_.asked[0].script == "renew_tokens";
    EXPECT_EQ(node_.asked[first ? 1 : 0].script, "renew_leases");
    const auto& renewal = node_.asked[first ? 0 : 1];
    EXPECT_EQ(renewal.script, "renew_tokens");
    const std::size_t colon = alice_text_.find(':');
    EXPECT_THAT(renewal.words, ElementsAre("30000", alice_text_.substr(0, colon + 1),
                                           alice_text_.substr(colon + 1)));
    EXPECT_EQ(renewal.wishes.answer_by, soon);
    EXPECT_TRUE(renewal.wishes.elsewhere);
    EXPECT_TRUE(renewal.wishes.reserved);
}

} // namespace
} // namespace holdfast
