// SPDX-License-Identifier: Apache-2.0
// Tests the checker of histories: it must find each violation in histories that have one.
#include "interop/counter_histories.hpp"
#include "interop/history.hpp"

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

namespace holdfast::interop {

// Histories that a test writes itself, for checkers to find something in.

class written_histories : public testing::Test {
protected:
    void TearDown() override { std::filesystem::remove_all(folder_); }

    history worker(const std::string& name, const std::string& lines,
                   std::optional<moment> killed_at = {}) {
        std::ofstream{folder_ / name} << lines;
        return read_history(folder_ / name, killed_at);
    }
    const std::filesystem::path& folder() const { return folder_; }

private:
    static std::filesystem::path new_folder() {
        std::string pattern = (std::filesystem::temp_directory_path() / "holdfast-XXXXXX").string();
        return ::mkdtemp(pattern.data());
    }

    const std::filesystem::path folder_ = new_folder();
};

namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class Histories : public written_histories {
protected:
    std::vector<std::string> overlaps_of(history one, history other) {
        one.add(std::move(other));
        return overlaps(std::move(one.claims));
    }
};

TEST_F(Histories, OneAfterTheOtherIsNoOverlap) {
    EXPECT_THAT(overlaps_of(worker("a", "1 asks L 0\n2 holds L\n5 leaves L\n6 left L\n"),
                            worker("b", "3 asks L 0\n5 holds L\n9 leaves L\n10 left L\n")),
                testing::IsEmpty());
}

TEST_F(Histories, TwoAtATimeAreFound) {
    EXPECT_THAT(overlaps_of(worker("a", "1 asks L 0\n2 holds L\n6 leaves L\n6 left L\n"),
                            worker("b", "3 asks L 0\n5 holds L\n9 leaves L\n10 left L\n")),
                UnorderedElementsAre(HasSubstr("b held L from 5, and a until 6")));
}

TEST_F(Histories, MorePermitsOutThanThereAreAreFound) {
    history crowd = worker("a", "1 asks L 0 2\n2 shares L\n6 leaves L\n6 left L\n");
    crowd.add(worker("b", "1 asks L 0 1\n3 shares L\n5 leaves L\n6 left L\n"));
    crowd.add(worker("c", "1 asks L 0 1\n5 shares L\n7 leaves L\n8 left L\n"));
    crowd.add(worker("d", "1 asks M 0 3\n3 shares M\n7 leaves M\n8 left M\n"));
    EXPECT_THAT(overdrawn(crowd.claims, 3), testing::IsEmpty());
    crowd.add(worker("e", "1 asks L 0 1\n4 shares L\n7 leaves L\n8 left L\n"));
    EXPECT_THAT(overdrawn(crowd.claims, 3), UnorderedElementsAre("4 permits of L were out at 4",
                                                                 "4 permits of L were out at 5"));
}

TEST_F(Histories, WhatAKilledOneTookAlongIsKnownWhereItCanBe) {
    const auto gone = [&](const std::string& name, const std::string& lines,
                          moment killed_at = 9ns) {
        const history told = worker(name, lines, killed_at);
        const permits_gone found = told.gone.contains("L") ? told.gone.at("L") : permits_gone{};
        return std::pair{found.known, found.unclear};
    };
    const std::string drew = "1 asks L 0 2\n2 shares L\n", given_back = drew + "6 leaves L\n";
    EXPECT_EQ(gone("a", drew), std::pair(2L, 0L));
    EXPECT_EQ(gone("b", given_back), std::pair(0L, 2L));
    EXPECT_EQ(gone("c", given_back + "7 left L\n"), std::pair(0L, 0L));
    EXPECT_EQ(gone("d", "1 asks L 0 2\n"), std::pair(0L, 2L));
    EXPECT_EQ(gone("e", "1 asks L 0 2\n2 gives-up L\n"), std::pair(0L, 2L));
    const std::string gave_up = "1 asks L 0 2\n2 gives-up L\n", went_on = "3 asks M 0\n";
    EXPECT_EQ(gone("f", gave_up + went_on), std::pair(0L, 2L)) << "it was not back yet";
    EXPECT_EQ(gone("g", gave_up + went_on, 2s), std::pair(0L, 0L));
}

TEST_F(Histories, ThoseWhoShareMayMeetAndNobodyElse) {
    const std::string reads = "1 asks L 0\n2 shares L\n6 leaves L\n6 left L\n";
    EXPECT_THAT(overlaps_of(worker("a", reads), worker("b", reads)), testing::IsEmpty());
    const std::string writes = "3 asks L 0\n5 holds L\n9 leaves L\n9 left L\n";
    EXPECT_THAT(overlaps_of(worker("c", reads), worker("d", writes)), testing::SizeIs(1));
    const std::string reads_later = "3 asks L 0\n8 shares L\n9 leaves L\n9 left L\n";
    EXPECT_THAT(overlaps_of(worker("e", writes), worker("f", reads_later)), testing::SizeIs(1));
    history crowd = worker("g", "1 asks L 0\n2 holds L\n7 leaves L\n7 left L\n");
    crowd.add(worker("h", "1 asks M 0\n3 shares M\n9 leaves M\n9 left M\n"));
    EXPECT_THAT(overlaps_of(std::move(crowd), worker("i", "1 asks L 0\n6 shares L\n8 leaves L\n")),
                UnorderedElementsAre(HasSubstr("g until 7")));
}

TEST_F(Histories, WhoGoesOnAsAReaderIsAloneUntilThen) {
    const std::string downgrades = "1 asks L 0\n2 holds L\n5 shares L\n9 leaves L\n9 left L\n";
    EXPECT_THAT(overlaps_of(worker("a", downgrades),
                            worker("b", "3 asks L 0\n6 shares L\n8 leaves L\n8 left L\n")),
                testing::IsEmpty());
    EXPECT_THAT(overlaps_of(worker("c", downgrades),
                            worker("d", "3 asks L 0\n4 shares L\n8 leaves L\n8 left L\n")),
                testing::SizeIs(1));
    EXPECT_EQ(worker("e", downgrades).waits.size(), 1u);
}

TEST_F(Histories, TokensGrow) {
    history all = worker("a", "1 asks L 0\n2 holds L\n2 token L 7\n4 leaves L\n4 left L\n");
    all.add(worker("b", "1 asks L 0\n5 holds L\n5 token L 8\n6 leaves L\n6 left L\n"));
    all.add(worker("c", "1 asks M 0\n8 holds M\n8 token M 1\n9 leaves M\n9 left M\n"));
    EXPECT_THAT(tokens_out_of_order(all.claims), testing::IsEmpty());
    all.add(worker("d", "1 asks L 0\n7 holds L\n7 token L 7\n9 leaves L\n9 left L\n"));
    EXPECT_THAT(tokens_out_of_order(all.claims),
                UnorderedElementsAre(HasSubstr("with the token 7, after b with 8")));
}

TEST_F(Histories, ALongClaimIsNotForgottenBehindAShortOne) {
    history both = worker("a", "1 asks L 0\n2 holds L\n90 leaves L\n90 left L\n");
    both.add(worker("b", "3 asks M 0\n5 holds M\n6 leaves M\n6 left M\n"));
    EXPECT_THAT(overlaps_of(std::move(both), worker("c", "8 asks L 0\n80 holds L\n85 leaves L\n")),
                UnorderedElementsAre(HasSubstr("a until 90")));
}

TEST_F(Histories, OtherNamesAreOtherLocks) {
    EXPECT_THAT(overlaps_of(worker("a", "1 asks L 0\n2 holds L\n6 leaves L\n6 left L\n"),
                            worker("b", "3 asks M 0\n5 holds M\n9 leaves M\n9 left M\n")),
                testing::IsEmpty());
}

TEST_F(Histories, ALeaseThatIsNotRenewedEndsTheClaim) {
    const std::string late = "3 asks L 0\n3000000 holds L\n9000000 leaves L\n9000000 left L\n";
    EXPECT_THAT(
        overlaps_of(worker("a", "1 asks L 2\n2 holds L\n9000000 leaves L\n9000001 lost L\n"),
                    worker("b", late)),
        testing::IsEmpty());
    EXPECT_THAT(
        overlaps_of(worker("c", "1 asks L 4\n2 holds L\n9000000 leaves L\n9000001 lost L\n"),
                    worker("d", late)),
        testing::SizeIs(1));
}

TEST_F(Histories, AKilledHolderHeldUntilItWasKilled) {
    const history after = worker("b", "3 asks L 0\n8 holds L\n9 leaves L\n9 left L\n");
    EXPECT_THAT(overlaps_of(worker("a", "1 asks L 0\n2 holds L\n", 7ns), after),
                testing::IsEmpty());
    EXPECT_THAT(overlaps_of(worker("c", "1 asks L 0\n2 holds L\n", 9ns), after),
                testing::SizeIs(1));
}

TEST_F(Histories, WhatShouldNotHappenIsTold) {
    EXPECT_THAT(worker("a", "1 asks L 0\n2 holds L\n3 leaves L\n4 lost L\n").troubles,
                UnorderedElementsAre(HasSubstr("a lost L")));
    EXPECT_THAT(worker("b", "1 asks L 0\n2 holds L\n").troubles,
                UnorderedElementsAre(HasSubstr("ended while it held")));
    EXPECT_THAT(worker("c", "1 asks L 0\n2 failed out of paper\n").troubles,
                UnorderedElementsAre(HasSubstr("out of paper")));
    EXPECT_THROW(worker("d", "1 dances L\n"), std::runtime_error);
    EXPECT_THROW(worker("e", "nonsense\n"), std::runtime_error);
}

TEST_F(Histories, ATailNamesEachGrantOnceAndNoHalfLines) {
    std::ofstream file{folder() / "a"};
    history_tail tail{folder() / "a"};
    file << "1 asks L 0\n2 holds L\n3 lea" << std::flush;
    EXPECT_THAT(tail.new_grants(), ElementsAre("L"));
    file << "ves L\n4 asks M 0\n5 shares M" << std::flush;
    EXPECT_THAT(tail.new_grants(), IsEmpty());
    file << "\n" << std::flush;
    EXPECT_THAT(tail.new_grants(), ElementsAre("M"));
    EXPECT_THAT(tail.new_grants(), IsEmpty());
}

// Tests of the checkers of latches and rate limiters: which histories they must reject, and which
// they must accept.

using testing::Each;
using testing::SizeIs;

/// History of a latch L, which is set to 2. Each test adds the workers that count it down, and the
/// times.
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
