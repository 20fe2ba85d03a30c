// SPDX-License-Identifier: Apache-2.0
// A renewal that is given up, or answered, only after its hold was lost: the store may have the
// lock for longer than was thought at the loss, and is told to release it for longer.
#include "unit/sync/stage.hpp"

#include <functional>

namespace holdfast::sync {
namespace {

class LateRemains : public on_stage {
protected:
    actor& alice = enter({.lease_time = 30s}, 10s);
    mutex stock{alice, "stock"};
    lease held = taken(stock);

    void until(duration moment) { run_for(moment - elapsed()); }

    /// No renewal succeeds before the last one, whose answer is still awaited when the term ends,
    /// after 29'698 ms; and no release before the hold as it was granted is forgotten.
    void lose_it_behind(fate last_renewal) {
        alice.always.refused = true;
        until(29'450ms);
        alice.always = last_renewal;
        until(29'600ms);
        alice.always = {.refused = true};
        until(29'700ms);
        EXPECT_FALSE(held.owns_lock());
        until(31s);
        ASSERT_EQ(server.held_count(), 1u) << "the last renewal was carried out";
        alice.always = {};
        run_for(1s);
    }
};

TEST_F(LateRemains, OfARenewalThatIsGivenUpAreReleased) {
    lose_it_behind({.answer_lost = true});
    EXPECT_EQ(server.held_count(), 0u);
}

TEST_F(LateRemains, OfARenewalThatIsAnsweredAreReleased) {
    lose_it_behind({.answer_delay = 290ms});
    EXPECT_EQ(server.held_count(), 0u);
}

class LateExtension : public LateRemains {
protected:
    /// Its answer is there, and the end of the term is noticed first.
    void extend_too_late(std::function<error_code()> answered) {
        alice.meddling.spoils = [this, answered](const hold&) {
            alice.always.refused = true;
            const std::shared_ptr<engine> home = alice.inside.lock();
            home->hold_lost(home->queues().held_under("stock").at(0), event_cause::term_ended);
            return answered();
        };
        said<> extended;
        held.async_extend(lease_time{2min}, extended.handler());
        settle();
        EXPECT_TRUE(extended.done());
        EXPECT_TRUE(extended.code());
        until(31s);
        ASSERT_EQ(server.held_count(), 1u);
        alice.always = {};
        run_for(1s);
    }
};

TEST_F(LateExtension, ThatIsAnsweredIsReleased) {
    extend_too_late([] { return error_code{}; });
    EXPECT_EQ(server.held_count(), 0u);
}

TEST_F(LateExtension, ThatIsGivenUpIsReleased) {
    extend_too_late([] { return make_error_code(errc::outcome_unknown); });
    EXPECT_EQ(server.held_count(), 0u);
}

} // namespace
} // namespace holdfast::sync
