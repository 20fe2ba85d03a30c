// SPDX-License-Identifier: Apache-2.0
// Deliberate faults for the tests of src/redis and src/store/redis to find (tests/redis), as
// sync/mutants.hpp has them for the simulator. In the library itself every one of these is constant
// false and costs nothing. Not for headers that a test includes: the tests are compiled only once.
#pragma once

namespace holdfast::redis {

enum class mutant {
    none,
    // A server that was the primary once.
    demotion_ignored,         // a refusal to write leaves the connection as it was
    demotion_ignored_by_lane, // likewise on a lane
    late_demotion_ignored,    // likewise if whoever asked waits no more
    role_ignored,             // an idle connection asks for the role, and takes any
    replica_accepted,         // a new connection asks for the role, and takes any
    lanes_stay,               // what ends the other connections leaves the lanes
    spare_stays,              // what ends the first connection leaves the spare
    ear_stays,                // what ends the other connections leaves the ear
    // What is held must be renewed and released, whatever else there is to do.
    no_room_is_kept,    // a release fails for want of room
    wishes_not_told,    // a renewal has the usual time, over the usual connection
    refusal_takes_all,  // one name of a renewal that is refused takes the others with it
    refusal_pursued,    // a refusal of everything is asked about name by name
    limit_ignored,      // a request waits for the whole time limit, whatever it wished
    lane_limit_ignored, // likewise on a lane
    never_elsewhere,    // a request is repeated over the connection that was silent
    silence_forgotten,  // a connection is trusted again as soon as nobody waits for its answer
    never_stuck,        // a connection is trusted that takes nothing
    silent_spare_kept,  // two connections may be silent, and then there is no third
    // What no script of ours answers.
    oddity_trusted,     // an answer of another shape leaves the connection as it was
    number_trusted,     // an answer may be any number
    distrust_ignored,   // a connection is kept that is not trusted
    odd_lane_kept,      // likewise a lane
    condemned_believed, // what a lane had read when it was condemned is passed on
    old_answer_given,   // what could not be sent has the answer to what was sent before
    debts_overtaken,    // an answer that a lane owes is taken for the next one's
    // Times.
    ear_counts_over,   // the time after "never" is long ago
    times_unbounded,   // options may have any length
    long_pause,        // the pause before an attempt to connect is as long while locks are held
    clock_not_learnt,  // a new connection does not compare clocks
    force_has_no_time, // a forced unlock may be carried out whenever it arrives
    // Which server is there, and whether it is.
    no_doubt,           // a new connection is no reason to ask for what is held
    never_urgent,       // whatever server it leads to
    outage_forgets,     // a restart that nobody saw leaves no trace
    lanes_unwatched,    // nobody notices that a server went while lanes are used
    stays_for_ever,     // a connection that was wanted once is tried for ever
    sunsubscribe_fatal, // a message of another form ends the connection
    dropped_unheard,    // a subscription that the server ends is not made again
    provider_unwinds,   // what a credential provider throws ends what runs it
    trial_lock_left,    // the doctor leaves a lock that it may have
    // Places and marks that whoever waits leaves at the server.
    place_unknown,         // of a place in the queue of a fair lock nobody knows
    patience_stays,        // a place that a JVM's clock takes away lasts no longer the next time
    mark_unknown,          // of a writer's mark nobody knows
    upgrade_polls_seldom,  // who waits to write on top of its read hold asks as all others do
    hold_beside_forgotten, // what it shall stand beside is not said
    // Another server becomes the primary.
    switch_unheard,       // what a Sentinel tells unasked is not heard
    name_ignored,         // a name that leads elsewhere changes nothing for who is connected
    one_look_leaves,      // an address that was missing once is left
    others_stay,          // the shared connection goes there alone
    stray_ignored,        // another connection that leads there is no news
    strays_heeded_always, // a proxy that asks whichever server it likes is left each time
    move_untold,          // nobody is told that another server has the locks
    // Servers of a cluster.
    listener_left_behind, // whoever listens stays at the server that told of its channel before
    map_not_refreshed,    // a slot that has moved is no reason to ask for the map
    ask_remembered,       // a slot that is on its way counts as one that has moved
    asking_forgotten,     // with the text of a script ASKING is not said again
    change_undoubted,     // another server is no reason to ask for what is held
    hang_unsuspected,     // a server that does not answer is no reason to ask the others
    halves_repeated,      // what met a key elsewhere is as never done
    apart_waited_for,     // what can be divided waits until its keys are together
    unused_stay,          // a server without slots is never left
    // Replicas that must confirm what is written.
    renewal_unconfirmed,   // a renewal counts, whoever has it
    grant_unconfirmed,     // so does a grant
    wait_elsewhere,        // WAIT goes out by another connection than what it is about
    written_behind_wait,   // what is asked meanwhile is written, and not in one batch
    wait_unbounded,        // it may take as long as the server likes
    lane_confirms_nothing, // a lane asks no replicas
    denial_pursued,        // where nobody may ask the replicas, it is tried again and again
    // Programs that are no clients of ours:
    foreign_wait_never_polls, // who waits behind one of them waits as if it were to be told
};

#ifdef HOLDFAST_MUTANTS
extern mutant planted_mutant;
inline bool planted(mutant m) {
    return planted_mutant == m;
}
#else
constexpr bool planted(mutant) {
    return false;
}
#endif

} // namespace holdfast::redis
