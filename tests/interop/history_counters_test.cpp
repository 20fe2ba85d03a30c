// SPDX-License-Identifier: Apache-2.0
// What the checkers of latches and rate limiters must find, and what they must let pass.
#include "interop/openings.hpp"
#include "interop/window.hpp"
#include "interop/written_histories.hpp"

#include <gmock/gmock.h>

namespace holdfast::interop {
namespace {

using namespace std::chrono_literals;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// One latch, L. It is shut from 2 on, and each test says by whom and when it is counted down.
class Openings : public written_histories {
protected:
    void SetUp() override { write("setter", "1 sets L 2\n2 set L\n"); }

    void write(const std::string& name, const std::string& lines,
               std::optional<moment> killed_at = {}) {
        told_.add(worker(name, lines, killed_at));
    }
    /// Told at the second of these moments.
    void count_down(const std::string& name, int from, int until) {
        write(name, std::to_string(from) + " counts-down L\n" + std::to_string(until) +
                        " counted-down L\n");
    }
    std::vector<std::string> wrong() const { return wrong_openings(told_.deeds); }
    std::vector<std::string> forgotten(moment longer_than) const {
        return forgotten_at_latches(told_.deeds, longer_than);
    }

private:
    history told_;
};

TEST_F(Openings, AfterAllHaveCountedDownAreInOrder) {
    count_down("a", 3, 4);
    write("b", "3 waits L\n9 passed L\n");
    count_down("c", 7, 8);
    write("d", "10 sets L 1\n11 set L\n12 waits L\n20 gives-up L\n");
    EXPECT_THAT(wrong(), IsEmpty());
}

TEST_F(Openings, ThatLetSomebodyThroughEarlyAreFound) {
    count_down("a", 3, 4);
    write("early", "3 waits L\n9 passed L\n");
    write("another's", "3 waits M\n9 passed M\n");
    EXPECT_THAT(wrong(), ElementsAre(HasSubstr("early was let through early at L")));
    count_down("late", 10, 11);
    EXPECT_THAT(wrong(), SizeIs(1));
    count_down("in time", 8, 30);
    EXPECT_THAT(wrong(), IsEmpty()) << "it may have opened at 8";
}

TEST_F(Openings, WhoCountsDownBeforeItIsSetCountsNothing) {
    count_down("a", 0, 1);
    count_down("b", 3, 4);
    count_down("c", 0, 0);
    write("early", "5 waits L\n9 passed L\n");
    EXPECT_THAT(wrong(), IsEmpty()) << "a may have been carried out after it was set";
    write("other setter", "1 sets N 2\n2 set N\n");
    write("x", "0 counts-down N\n0 counted-down N\n3 counts-down N\n4 counted-down N\n");
    write("early there", "5 waits N\n9 passed N\n");
    EXPECT_THAT(wrong(), ElementsAre(HasSubstr("early there")));
}

TEST_F(Openings, ThatAreSetAnewWhileShutAreFound) {
    write("again", "5 sets L 2\n6 set L\n");
    EXPECT_THAT(wrong(), ElementsAre(HasSubstr("again set, though it was shut, L")));
}

TEST_F(Openings, ThatSomebodyCannotShutAreFound) {
    count_down("a", 3, 4);
    count_down("b", 4, 5);
    write("in time", "4 sets L 2\n9 gives-up L\n");
    EXPECT_THAT(wrong(), IsEmpty());
    write("refused", "6 sets L 2\n7 gives-up L\n");
    EXPECT_THAT(wrong(), ElementsAre(HasSubstr("refused could not set, though it was open, L")));
    write("before", "5 sets L 3\n8 set L\n");
    EXPECT_THAT(wrong(), IsEmpty()) << "it may have been set at 5";
}

TEST_F(Openings, ThatForgetSomebodyAreFound) {
    count_down("a", 3, 4);
    count_down("b", 4, 5);
    write("asleep", "3 waits L\n100 gives-up L\n");
    write("late", "3 waits L\n90 passed L\n");
    write("comes then", "50 waits L\n51 passed L\n");
    EXPECT_THAT(forgotten(84ns), ElementsAre(HasSubstr("asleep"), HasSubstr("late")));
    EXPECT_THAT(forgotten(85ns), ElementsAre(HasSubstr("asleep")));
    EXPECT_THAT(forgotten(95ns), IsEmpty());
    write("anew", "40 sets L 7\n41 set L\n");
    EXPECT_THAT(forgotten(34ns), SizeIs(2));
    EXPECT_THAT(forgotten(35ns), IsEmpty()) << "it was open until 40 alone";
}

TEST_F(Openings, WhatAKilledOneAskedMayHaveBeenDone) {
    count_down("a", 3, 4);
    write("gone", "5 counts-down L\n", 6ns);
    write("b", "6 waits L\n9 passed L\n");
    EXPECT_THAT(wrong(), IsEmpty());
    write("early", "3 waits L\n4 passed L\n");
    EXPECT_THAT(wrong(), ElementsAre(HasSubstr("early was let through")));
    EXPECT_THAT(forgotten(0ns), IsEmpty()) << "nor is it known to have opened";
    count_down("c", 10, 11);
    write("sets and is gone", "20 sets L 5\n", 21ns);
    write("waits and is gone", "12 waits L\n", 100ns);
    EXPECT_THAT(forgotten(7ns), ElementsAre(HasSubstr("waits and is gone")));
    EXPECT_THAT(forgotten(8ns), IsEmpty()) << "it may have been shut at 20";
}

class Draws : public written_histories {
protected:
    static constexpr limit three{3, 10ms};

    static std::string member(char permits, const std::string& unique = "who") {
        return unique + permits + std::string(3, '\0');
    }
};

// Clocks may differ by some of the 10 ms.
TEST_F(Draws, ThatAreTooManyForAnIntervalAreFound) {
    history told = worker("a", "1 draws L 2\n1000000 drew L\n");
    told.add(worker("b", "2000000 draws L 2\n12000000 drew L\n"));
    told.add(worker("c", "3000000 draws L 2\n3000001 gives-up L\n"));
    told.add(worker("d", "3000000 draws M 2\n3000001 drew M\n"));
    EXPECT_THAT(drawn_too_fast(told.deeds, three), IsEmpty()) << "b may have drawn at 12 ms";
    told.add(worker("e", "2000000 draws L 2\n2000001 drew L\n"));
    EXPECT_THAT(drawn_too_fast(told.deeds, three),
                ElementsAre(HasSubstr("4 permits of L were drawn within an interval from 1 on")));
}

TEST_F(Draws, OfAKilledOneAreUnknownAlsoIfItHadJustGivenUp) {
    const auto outcome = [&](const std::string& name, const std::string& lines,
                             moment killed_at = 9ns) {
        return worker(name, lines, killed_at).deeds.front().how;
    };
    EXPECT_EQ(outcome("a", "1 draws L 2\n"), deed::outcome::unknown);
    EXPECT_EQ(outcome("b", "1 draws L 2\n2 drew L\n"), deed::outcome::done);
    EXPECT_EQ(outcome("c", "1 draws L 2\n2 gives-up L\n"), deed::outcome::unknown);
    const std::string went_on = "1 draws L 2\n2 gives-up L\n3 waits M\n";
    EXPECT_EQ(outcome("d", went_on), deed::outcome::unknown);
    EXPECT_EQ(outcome("e", went_on, 2s), deed::outcome::denied) << "it was back by then";
}

TEST_F(Draws, ThatFailedSinceAnotherCameFirstAreCounted) {
    const history told = worker("a", "1 draws L 2\n2 overtaken L\n3 draws L 2\n4 drew L\n");
    EXPECT_THAT(told.overtaken, ElementsAre(testing::Pair("L", 1u)));
    EXPECT_THAT(told.deeds, SizeIs(2));
    EXPECT_THAT(told.waits, SizeIs(1));
}

TEST_F(Draws, AreAskedForAndAnsweredByTurns) {
    EXPECT_THROW(worker("a", "1 draws L 2\n2 passed L\n"), std::runtime_error);
    EXPECT_THROW(worker("b", "1 draws L 2\n2 drew M\n"), std::runtime_error);
    EXPECT_THROW(worker("c", "1 drew L\n"), std::runtime_error);
    EXPECT_THROW(worker("d", "1 draws L 2\n2 waits L\n"), std::runtime_error);
    EXPECT_THAT(worker("e", "1 draws L 2\n").troubles,
                ElementsAre(HasSubstr("ended while it asked L")));
    EXPECT_THAT(worker("f", "1 draws L 2\n2 failed out of paper\n").troubles,
                testing::Contains(HasSubstr("out of paper")));
}

TEST_F(Draws, ThatTheServerHasAtATimeAreSummed) {
    window seen{"L", three};
    seen.saw(100ms, {{member(1), 91ms}, {member(2), 95ms}, {member(9), 90ms}});
    EXPECT_EQ(seen.most(), 3) << "what is over does not count";
    EXPECT_THAT(seen.troubles(), IsEmpty());
    seen.saw(101ms, {{member(1), 91ms}, {member(2), 95ms}, {member(3), 101ms}});
    EXPECT_THAT(seen.troubles(), ElementsAre("5 permits of L were drawn in the interval before "
                                             "101"));
    EXPECT_EQ(seen.drawn(), 15);
}

TEST_F(Draws, ThatAreTakenOutBeforeTheirTimeAreGivenBack) {
    window seen{"L", three};
    seen.saw(100ms, {{member(1), 91ms}, {member(2), 95ms}});
    seen.saw(103ms, {});
    EXPECT_EQ(seen.drawn(), 1);
    EXPECT_EQ(seen.given_back(), 2);
    seen.saw(104ms, {{member(3), 104ms}});
    EXPECT_THAT(seen.troubles(), IsEmpty());
    EXPECT_EQ(seen.drawn(), 4);
}

TEST_F(Draws, ThatNobodyLookedForMayBeUnknown) {
    window seen{"L", three};
    seen.saw(100ms, {});
    seen.saw(103ms, {});
    seen.saw(104ms, {});
    EXPECT_EQ(seen.blind(), 3ms);
}

} // namespace
} // namespace holdfast::interop
