// SPDX-License-Identifier: Apache-2.0
// Checks the tests of src/redis and src/store/redis: plants one fault at a time there, and the test
// that is named beside it must fail. The tests are those of redis_test that need no server.
//
//     redis_mutants [--only MUTANT]
//
// Exit status: 0 when all of them pass without a fault, and each fault was found.
#include "redis/mutants.hpp"

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using holdfast::redis::mutant;

struct fault {
    mutant planted;
    std::string_view name;
    std::string_view test;
};

#define HOLDFAST_FAULT(name, test)                                                                 \
    fault {                                                                                        \
        mutant::name, #name, test                                                                  \
    }
constexpr std::array faults{
    HOLDFAST_FAULT(demotion_ignored,
                   "NodeDemoted.ARefusalToWriteEndsTheConnectionAndTheObserverIsTold"),
    HOLDFAST_FAULT(demotion_ignored_by_lane,
                   "NodeVisited.ADemotionThatALaneHearsOfEndsTheSharedConnection"),
    HOLDFAST_FAULT(late_demotion_ignored, "NodeDemoted.AnswersToOthersThatComeTooLateTellItAsWell"),
    HOLDFAST_FAULT(role_ignored, "IdleMouth.LeavesAServerThatHasBecomeAReplica"),
    HOLDFAST_FAULT(replica_accepted, "NodeInTrouble.AReplicaIsUnreachable"),
    HOLDFAST_FAULT(lanes_stay, "NodeVisited.AServerThatWasDemotedIsLeftByItsLanesToo"),
    HOLDFAST_FAULT(spare_stays, "NodeSilent.BothConnectionsToAServerThatWasDemotedAreLeft"),
    HOLDFAST_FAULT(ear_stays, "Ear.LeavesAServerThatWasDemotedAndRingsAtTheNext"),
    HOLDFAST_FAULT(no_room_is_kept, "NodeSilent.ReleasesAndRenewalsFindRoomWhereThereIsNone"),
    HOLDFAST_FAULT(wishes_not_told, "RedisStore.RenewalsAndReleasesTellTheirWishes"),
    HOLDFAST_FAULT(refusal_takes_all, "RedisStore.ANameThatIsRefusedTakesNoOtherWithIt"),
    HOLDFAST_FAULT(refusal_pursued, "RedisStore.ARefusalOfEverythingIsNotRepeated"),
    HOLDFAST_FAULT(limit_ignored, "NodeSilent.ARequestsOwnLimitEndsItAndNoOther"),
    HOLDFAST_FAULT(lane_limit_ignored, "NodeVisited.ARequestHasItsOwnLimitOnALaneToo"),
    HOLDFAST_FAULT(foreign_wait_never_polls,
                   "StoreToken.BehindAnotherProgramItAsksFourTimesASecondAndAtTheEndOfItsLease"),
    HOLDFAST_FAULT(never_elsewhere,
                   "NodeSilent.ARenewalThatWasNotAnsweredIsRepeatedOverAnotherConnection"),
    HOLDFAST_FAULT(silence_forgotten,
                   "NodeSilent.ARenewalThatWasNotAnsweredIsRepeatedOverAnotherConnection"),
    HOLDFAST_FAULT(never_stuck,
                   "NodeSilent.ARenewalThatWasNotEvenSentIsRepeatedOverAnotherConnection"),
    HOLDFAST_FAULT(silent_spare_kept, "NodeSilent.AnotherConnectionThatFallsSilentTooIsReplaced"),
    HOLDFAST_FAULT(oddity_trusted, "StrangeAnswers.ToEachScriptEndTheConnection"),
    HOLDFAST_FAULT(number_trusted, "StrangeAnswers.NumbersThatMeanNothingAreStrange"),
    HOLDFAST_FAULT(distrust_ignored, "NodeDistrusted.AnswersBehindItAreNobodysAnyMore"),
    HOLDFAST_FAULT(odd_lane_kept, "NodeVisited.AnAnswerThatMakesNoSenseEndsTheLaneItCameBy"),
    HOLDFAST_FAULT(condemned_believed, "Lane.WhatHadArrivedWhenItWasCondemnedIsNotBelievedEither"),
    HOLDFAST_FAULT(old_answer_given, "Lane.AnEarlierAnswerIsNoAnswerToWhatCouldNotBeSent"),
    HOLDFAST_FAULT(debts_overtaken, "Lane.AnAnswerThatIsOwedIsReadByWhoAsksNext"),
    HOLDFAST_FAULT(ear_counts_over, "Ear.AsksNothingOfTheServerWhereWaitersMayHearNothingForEver"),
    HOLDFAST_FAULT(times_unbounded, "RedisOptions.EachObjectionNamesItsField"),
    HOLDFAST_FAULT(long_pause, "NodeReconnected.WhileItHoldsItTriesFourTimesASecond"),
    HOLDFAST_FAULT(clock_not_learnt, "NodeSilent.EachConnectionHasTheClockOfTheServerAtItsOwnEnd"),
    HOLDFAST_FAULT(force_has_no_time, "Forced.NamesWhomItIsTakenFromAndWhoIsToBeTold"),
    HOLDFAST_FAULT(no_doubt, "NodeReconnected.AsksForEveryHoldAfterEachReconnection"),
    HOLDFAST_FAULT(never_urgent, "NodeReconnected.ItIsUrgentWhereTheDataHasAnotherHistory"),
    HOLDFAST_FAULT(outage_forgets, "NodeReconnected.KnowsWhichServerItIsAndSinceWhenItRemembers"),
    HOLDFAST_FAULT(lanes_unwatched, "NodeVisited.WhoUsesALaneBringsTheSharedConnectionBack"),
    HOLDFAST_FAULT(stays_for_ever,
                   "NodeVisited.AServerThatTakesNoConnectionsIsNotTriedForEverBecauseOfALane"),
    HOLDFAST_FAULT(sunsubscribe_fatal, "Ear.AnEndOfWhatItNeverAskedForIsNothing"),
    HOLDFAST_FAULT(dropped_unheard,
                   "Ear.ASubscriptionThatTheServerEndsByItselfIsNoErrorAndMadeAgain"),
    HOLDFAST_FAULT(provider_unwinds,
                   "NodeReconnected.WhateverACredentialProviderThrowsEndsThatAttemptAlone"),
    HOLDFAST_FAULT(trial_lock_left, "Examination.ReleasesALockThatItMayHave"),
    HOLDFAST_FAULT(place_unknown, "StoreFair.WhoeverWaitsHasAPlaceToLeave"),
    HOLDFAST_FAULT(patience_stays,
                   "StoreFair.APlaceThatWasTakenAwayInTimeLastsTwiceAsLongFromNowOn"),
    HOLDFAST_FAULT(mark_unknown, "StoreShared.AWriterThatWaitsHasAMarkToTakeAway"),
    HOLDFAST_FAULT(upgrade_polls_seldom, "StoreShared.AnUpgradeAsksFourTimesASecond"),
    HOLDFAST_FAULT(hold_beside_forgotten, "StoreShared.AHoldMayStandBesideAnother"),
    HOLDFAST_FAULT(listener_left_behind, "ClusterEars.GoWhereASlotHasMovedAndAreRung"),
    HOLDFAST_FAULT(map_not_refreshed, "ClusterCalls.FollowAMovedSlotAndRememberIt"),
    HOLDFAST_FAULT(ask_remembered, "ClusterCalls.AskWhereASlotGoesAndDoNotRememberIt"),
    HOLDFAST_FAULT(asking_forgotten, "ClusterCalls.SayAskingAgainWithTheTextOfAScript"),
    HOLDFAST_FAULT(change_undoubted, "ClusterMap.CastsDoubtOnWhatIsAtServersThatHaveChanged"),
    HOLDFAST_FAULT(hang_unsuspected, "ClusterSilent.ACallThatHangsEndsWhenAnotherServerIsNamed"),
    HOLDFAST_FAULT(halves_repeated, "ClusterCalls.WhatMetAKeyThatIsElsewhereMayBeHalfDone"),
    HOLDFAST_FAULT(apart_waited_for,
                   "ClusterCalls.ThatCanBeDividedAreToldAtOnceThatTheirKeysAreApart"),
    HOLDFAST_FAULT(unused_stay, "ClusterMap.AServerWithoutSlotsAndUseIsLeft"),
    HOLDFAST_FAULT(switch_unheard,
                   "SentinelWatch.GoesWhereNewsLeadsAndAsksWhetherTheOthersKnowMore"),
    HOLDFAST_FAULT(name_ignored, "FixedAddress.IsLeftWhenItsNameHasLedElsewhereThreeTimesRunning"),
    HOLDFAST_FAULT(one_look_leaves, "FixedAddress.IsKeptWhereItsNameRotates"),
    HOLDFAST_FAULT(others_stay, "OthersTogether.WhoConfirmsFollowsAndSoDoesWhoListensWhichRings"),
    HOLDFAST_FAULT(stray_ignored, "LanesTogether.OneThatIsLedElsewhereMakesAllOthersFollow"),
    HOLDFAST_FAULT(strays_heeded_always,
                   "LanesTogether.AProxyWithSeveralServersBehindItIsNotStormed"),
    HOLDFAST_FAULT(move_untold, "FixedAddress.TellsTheObserverThatAnotherServerHasTheLocks"),
    HOLDFAST_FAULT(renewal_unconfirmed, "StoreConfirmation.ARenewalThatTooFewConfirmedHasFailed"),
    HOLDFAST_FAULT(grant_unconfirmed,
                   "StoreConfirmation.AGrantThatTooFewConfirmedIsNoneAndToBeLeft"),
    HOLDFAST_FAULT(wait_elsewhere,
                   "Confirmed.WhatWasNotConfirmedBeforeTheConnectionEndedIsUnknown"),
    HOLDFAST_FAULT(written_behind_wait,
                   "Confirmed.NothingIsWrittenBehindAWaitAndSoTheNextBatchForms"),
    HOLDFAST_FAULT(wait_unbounded, "Confirmed.WaitNeverHasMoreTimeThanReplicasHave"),
    HOLDFAST_FAULT(lane_confirms_nothing,
                   "ConfirmedLane.AsksTheReplicasInTheSameWriteAndReadsBothAnswers"),
    HOLDFAST_FAULT(denial_pursued,
                   "StoreConfirmation.WhereNobodyMayAskTheReplicasItIsLeftAndThenRefused"),
};
#undef HOLDFAST_FAULT

/// One that a fault keeps from ending is as good as one that fails.
constexpr unsigned seconds_max = 20;

/// In a process of its own: what a fault breaks is broken there. The exit status, or 128 + the
/// signal that ended it.
int run(mutant m, const std::string& tests, int how_many, bool aloud) {
    std::cout.flush();
    const pid_t child = ::fork();
    if (child == 0) {
        ::alarm(seconds_max);
        if (!aloud &&
            !(std::freopen("/dev/null", "w", stdout) && std::freopen("/dev/null", "w", stderr)))
            std::_Exit(2);
        holdfast::redis::planted_mutant = m;
        GTEST_FLAG_SET(filter, tests);
        const int failed = RUN_ALL_TESTS();
        const bool all_there = testing::UnitTest::GetInstance()->test_to_run_count() == how_many;
        std::fflush(nullptr);
        std::_Exit(all_there ? failed : 2);
    }
    int status = 0;
    if (child < 0 || ::waitpid(child, &status, 0) < 0)
        return 2;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool found_by(int status) {
    return status == 1 || status > 128;
}

void row(std::string_view name, std::string_view outcome, std::string_view test) {
    std::cout << std::left << std::setw(26) << name << std::setw(12) << outcome << test
              << std::endl;
}

std::string_view words_for(int status) {
    switch (status) {
    case 0:
        return "passed";
    case 1:
        return "failed";
    case 2:
        return "not run";
    case 128 + SIGALRM:
        return "no end";
    default:
        return "crashed";
    }
}

/// All named tests, without a fault.
int run_all() {
    std::set<std::string_view> all;
    std::string tests;
    for (const fault& f : faults)
        if (all.insert(f.test).second)
            tests += std::string{f.test} + ":";
    return run(mutant::none, tests, static_cast<int>(all.size()), false);
}

} // namespace

int main(int argc, char** argv) {
    GTEST_FLAG_SET(output, ""); // what fails here is as it should be, and is nobody's failure
    testing::InitGoogleMock(&argc, argv);
    const std::vector<std::string_view> words{argv + 1, argv + argc};
    const std::string_view only =
        words.size() == 2 && words[0] == "--only" ? words[1] : std::string_view{};

    int wrong = 0;
    row("planted", "outcome", "test");
    if (only.empty()) {
        const int status = run_all();
        row("(nothing)", words_for(status), "all of these");
        wrong += status == 0 ? 0 : 1;
    }
    for (const fault& f : faults) {
        if (!only.empty() && only != f.name)
            continue;
        const int status = run(f.planted, std::string{f.test}, 1, !only.empty());
        row(f.name, words_for(status), f.test);
        wrong += found_by(status) ? 0 : 1;
    }
    if (wrong != 0)
        std::cout << wrong
                  << " rows are not as they should be: a test passes without a planted fault, and "
                     "fails with its own\n";
    return wrong == 0 ? 0 : 1;
}
