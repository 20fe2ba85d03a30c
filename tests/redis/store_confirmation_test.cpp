// SPDX-License-Identifier: Apache-2.0
// Results of the store when replicas have or have not confirmed a grant or a renewal.
#include "store/redis/redis_store.hpp"
#include "store_fixture.hpp"
#include "support/holds.hpp"

#include <string>
#include <utility>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;

class StoreConfirmation : public on_scripted_node {
protected:
    static constexpr const char* denied_ =
        "NOPERM this user has no permissions to run the 'wait' command";
    const std::vector<std::int64_t> granted_{1, 0, server_time}, busy_{0, 20'000, server_time};

    /// The next answer, of which so many replicas have told; or why they could not be asked.
    void say(const std::vector<std::int64_t>& numbers, std::int64_t confirmed = 0,
             std::string refusal = {}) {
        scripted_node::outcome next{.answer = scripted_node::array_of(numbers)};
        next.answer.confirmed = confirmed;
        next.answer.confirmation_refused = std::move(refusal);
        outcomes_.push_back(std::move(next));
    }
    void fail(errc why) { outcomes_.push_back({.failure = make_error_code(why)}); }

    ask wanted(lock_kind kind = lock_kind::plain, std::uint8_t replicas = 2) const {
        ask made{lock_name{"L"}, alice_, kind};
        made.lease_time = 30s;
        made.give_up_at = time_point::max();
        made.replicas = replicas;
        return made;
    }
    void line_up(const ask& want) { place_ = store_.line_up(want, *wake_); }

    struct outcome {
        error_code code;
        std::string text;
        bool granted = false;
    };
    outcome look() {
        try {
            return {{}, {}, complete(place_->look()).granted};
        } catch (const boost::system::system_error& why) {
            return {why.code(), why.what()};
        }
    }
    outcome renew(duration lease, std::uint8_t replicas = 2) {
        hold held{lock_name{"L"}, alice_, lock_kind::plain};
        held.replicas = replicas;
        const hold* const one[] = {&held};
        try {
            return {{}, {}, complete(support::renewed(store_, one, lease)).front().granted};
        } catch (const boost::system::system_error& why) {
            return {why.code(), why.what()};
        }
    }

    void SetUp() override {
        node_.decide = [this](const auto&) -> std::optional<scripted_node::outcome> {
            if (outcomes_.empty())
                return std::nullopt;
            scripted_node::outcome next = std::move(outcomes_.front());
            outcomes_.pop_front();
            return next;
        };
    }

    std::unique_ptr<place> place_;
    std::deque<scripted_node::outcome> outcomes_;
};

TEST_F(StoreConfirmation, EveryKindAsksForItsReplicasAndWaitsForAPartOfItsLease) {
    for (const lock_kind kind :
         {lock_kind::plain, lock_kind::spin, lock_kind::fenced, lock_kind::fair, lock_kind::read,
          lock_kind::write, lock_kind::token, lock_kind::permit}) {
        for (const std::uint8_t replicas : {std::uint8_t{0}, std::uint8_t{2}}) {
            fail(errc::unreachable);
            line_up(wanted(kind, replicas));
            EXPECT_EQ(look().code, errc::unreachable);
            EXPECT_EQ(node_.asked.back().options.replicas, replicas);
            EXPECT_EQ(node_.asked.back().options.replicas_within, 10s);
        }
        fail(errc::unreachable);
        const hold held = wanted(kind);
        EXPECT_EQ(failure_of(store_.release(held)), errc::unreachable);
        EXPECT_EQ(node_.asked.back().options.replicas, 0) << "what is lost of it hurts nobody";
        fail(errc::unreachable);
        const hold* const one[] = {&held};
        EXPECT_EQ(failure_of(support::renewed(store_, one, 9s)), errc::unreachable);
        EXPECT_EQ(node_.asked.back().options.replicas, 2);
        EXPECT_EQ(node_.asked.back().options.replicas_within, 3s);
    }
}

TEST_F(StoreConfirmation, AGrantThatAsManyConfirmedIsOne) {
    say(granted_, 2);
    line_up(wanted());
    EXPECT_TRUE(look().granted);
    say(granted_, 3);
    EXPECT_TRUE(look().granted);
}

TEST_F(StoreConfirmation, AGrantThatTooFewConfirmedIsNoneAndToBeLeft) {
    say(granted_, 1);
    line_up(wanted());
    const outcome got = look();
    EXPECT_EQ(got.code, make_error_code(store_errc::not_replicated));
    EXPECT_EQ(got.code, errc::outcome_unknown);
    EXPECT_THAT(got.text, HasSubstr("1 of 2 replicas confirmed the write in time"));
    EXPECT_TRUE(place_->must_leave());
    EXPECT_EQ(node_.asked.size(), 1u) << "its owner may have it confirmed yet";
}

TEST_F(StoreConfirmation, WhatWasNotConfirmedIsGrantedWhenItIs) {
    say(granted_, 0);
    say(granted_, 2);
    line_up(wanted());
    EXPECT_FALSE(look().granted);
    EXPECT_TRUE(look().granted);
}

TEST_F(StoreConfirmation, NobodyHasToConfirmThatItIsBusy) {
    say(busy_, 0);
    say(busy_, 0, denied_);
    line_up(wanted());
    EXPECT_EQ(look().code, error_code{});
    EXPECT_EQ(look().code, error_code{});
}

TEST_F(StoreConfirmation, WhereNobodyMayAskTheReplicasItIsLeftAndThenRefused) {
    say(granted_, 0, denied_);
    say({1, 0});
    line_up(wanted());
    const outcome got = look();
    EXPECT_EQ(got.code, make_error_code(store_errc::no_permission));
    EXPECT_THAT(got.text,
                AllOf(HasSubstr("WAIT"), HasSubstr("NOPERM"), HasSubstr("(to be granted: +wait)")));
    EXPECT_EQ(node_.asked.back().script, "release_mutex");
    EXPECT_FALSE(place_->must_leave());
}

TEST_F(StoreConfirmation, WhereThatIsNotAcknowledgedNobodyKnows) {
    say(granted_, 0, denied_);
    fail(errc::unreachable);
    line_up(wanted());
    const outcome got = look();
    EXPECT_EQ(got.code, make_error_code(store_errc::not_replicated));
    EXPECT_THAT(got.text, HasSubstr("+wait"));
    EXPECT_TRUE(place_->must_leave());
}

TEST_F(StoreConfirmation, AServerWithoutWaitRefusesInItsOwnWords) {
    say(granted_, 0, "ERR unknown command 'WAIT', with args beginning with: '2'");
    say({1, 0});
    line_up(wanted());
    const outcome got = look();
    EXPECT_EQ(got.code, make_error_code(store_errc::other));
    EXPECT_THAT(got.text, HasSubstr("unknown command 'WAIT'"));
}

TEST_F(StoreConfirmation, AServerThatWasDemotedMeanwhileDidNotRefuse) {
    for (const char* const said : {"UNBLOCKED force unblock, instance state changed",
                                   "ERR WAIT cannot be used with replica instances."}) {
        say(granted_, 0, said);
        line_up(wanted());
        EXPECT_EQ(look().code, make_error_code(store_errc::not_replicated)) << said;
        EXPECT_TRUE(place_->must_leave());
    }
    EXPECT_EQ(node_.asked.size(), 2u);
}

TEST_F(StoreConfirmation, ARenewalThatTooFewConfirmedHasFailed) {
    say({1}, 2);
    EXPECT_TRUE(renew(30s).granted);
    say({1}, 1);
    const outcome got = renew(30s);
    EXPECT_EQ(got.code, make_error_code(store_errc::not_replicated));
    EXPECT_THAT(got.text, HasSubstr("1 of 2 replicas confirmed the write in time"));
    say({1}, 0, denied_);
    EXPECT_THAT(renew(30s).text, HasSubstr("+wait"));
}

TEST_F(StoreConfirmation, AHoldThatIsGoneIsGoneWhoeverConfirmedIt) {
    say({0}, 0);
    const outcome got = renew(30s);
    EXPECT_EQ(got.code, error_code{});
    EXPECT_FALSE(got.granted);
}

TEST_F(StoreConfirmation, WhatIsOnlyAskedIsConfirmedByNobody) {
    say({1}, 0);
    EXPECT_TRUE(renew(duration::zero()).granted);
    EXPECT_EQ(node_.asked.back().options.replicas, 0);
}

class CounterConfirmation : public StoreConfirmation {
protected:
    void line_up_for(counter_kind kind) {
        counter_ask want{lock_name{"S"}, alice_, kind, 1};
        want.give_up_at = time_point::max();
        want.replicas = 2;
        place_ = counters_.line_up(std::move(want), *wake_);
    }
    outcome change(counter_kind kind, counter_verb verb) {
        counter_change what{lock_name{"S"}, alice_, kind, verb, 1};
        what.to = {.permits = 1, .per = 1s};
        what.permit = permit_id(alice_);
        what.replicas = 2;
        try {
            return {{}, {}, complete(counters_.change(std::move(what))).done};
        } catch (const boost::system::system_error& why) {
            return {why.code(), why.what()};
        }
    }

    redis::redis_counters counters_{node_, context_};
};

TEST_F(CounterConfirmation, WhatIsTakenWithoutItIsToBeGivenBack) {
    for (const counter_kind kind : {counter_kind::semaphore, counter_kind::rate}) {
        const auto taken =
            kind == counter_kind::rate ? granted_ : std::vector{granted_[0], granted_[2]};
        say(taken, 1);
        line_up_for(kind);
        EXPECT_EQ(look().code, make_error_code(store_errc::not_replicated));
        EXPECT_TRUE(place_->must_leave());
        EXPECT_EQ(node_.asked.back().options.replicas, 2);
        say({1, 0});
        complete(place_->leave());
        EXPECT_FALSE(place_->must_leave());
    }
}

TEST_F(CounterConfirmation, RequestContainsTheDeadlineOfTheCall) {
    for (const counter_kind kind : {counter_kind::semaphore, counter_kind::rate}) {
        counter_ask want{lock_name{"S"}, alice_, kind, 1};
        want.give_up_at = clock_.now() + 1min;
        place_ = counters_.line_up(want, *wake_);
        say(kind == counter_kind::rate ? granted_ : std::vector{granted_[0], granted_[2]});
        EXPECT_TRUE(look().granted);
        EXPECT_EQ(node_.asked.back().deadline_of_call, want.give_up_at);
    }
}

TEST_F(CounterConfirmation, WhereNobodyMayAskTheReplicasItIsGivenBackAndThenRefused) {
    for (const counter_kind kind : {counter_kind::semaphore, counter_kind::rate}) {
        const bool is_rate = kind == counter_kind::rate;
        say(is_rate ? granted_ : std::vector{granted_[0], granted_[2]}, 0, denied_);
        say({1, 0});
        line_up_for(kind);
        EXPECT_EQ(look().code, make_error_code(store_errc::no_permission));
        EXPECT_EQ(node_.asked.back().script, is_rate ? "give_back_rate" : "revoke_semaphore");
    }
}

TEST_F(CounterConfirmation, AChangeThatTooFewConfirmedIsUnknown) {
    using verb = counter_verb;
    const std::vector<std::pair<counter_kind, verb>> changes{
        {counter_kind::semaphore, verb::add},     {counter_kind::latch, verb::count_down},
        {counter_kind::permits, verb::add},       {counter_kind::permits, verb::give_back},
        {counter_kind::permits, verb::set_lease}, {counter_kind::rate, verb::set}};
    const std::vector<std::int64_t> done{1, server_time, 0, 0};
    for (const auto& [kind, what] : changes) {
        say(done, 2);
        EXPECT_TRUE(change(kind, what).granted);
        EXPECT_EQ(node_.asked.back().options.replicas, 2);
        say(done, 1);
        const outcome got = change(kind, what);
        EXPECT_EQ(got.code, make_error_code(store_errc::not_replicated));
        EXPECT_THAT(got.text, HasSubstr("1 of 2 replicas"));
        say(done, 0, denied_);
        EXPECT_EQ(change(kind, what).code, make_error_code(store_errc::not_replicated))
            << "it was done, and cannot be taken back";
    }
}

} // namespace
} // namespace holdfast
