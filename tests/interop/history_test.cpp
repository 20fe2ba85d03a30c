// SPDX-License-Identifier: Apache-2.0
// A checker that finds nothing proves nothing: here it is shown what it must find.
#include "interop/written_histories.hpp"

#include <gmock/gmock.h>

namespace holdfast::interop {
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

} // namespace
} // namespace holdfast::interop
