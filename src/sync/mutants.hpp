// SPDX-License-Identifier: Apache-2.0
// Deliberate faults for the simulator to find (tests/sim): a check that cannot fail proves nothing.
// In the library itself every one of these is constant false and costs nothing.
#pragma once

namespace holdfast::sync {

enum class mutant {
    none,
    no_margin,            // believe in a lease for its whole length
    release_not_sent,     // unlock() answers, the store never hears
    wake_dropped_no_poll, // sleep until a wake-up comes, if ever
    renew_after_release,  // a released hold stays in the renewal's list
    stale_lease_believed, // the end of a term goes unnoticed
    lease_from_answer,    // a lease counts from when the answer came
    no_second_release,    // an uncertain attempt is released once, and forgotten
    deadline_ignored,     // planted in the memory server: late requests are granted
    no_release_on_cancel, // a cancelled acquisition keeps what it was granted
    gate_skips_next,      // a hold that ends rings nobody at the gate
    refusal_ignored,      // a renewal that is refused changes nothing
    renewal_gives_up,     // one failed renewal ends renewing
    number_used_twice,    // an owner number is used again
    hand_off_unbounded,   // a hold is handed on for as long as anybody waits
    lost_lease_handed_on, // a hold is handed on whatever became of it
    short_term_handed_on, // a hold is handed on with hardly any time left
    failure_takes_batch,  // what one name of a renewal fails with, its neighbours fail with
    release_gives_up,     // a release is repeated after silence only
    throw_unwinds_us,     // what a user's handler throws ends what runs it
    heir_has_it_all,      // an heir has all that is left, however little it asked for
    heir_asked_for_late,  // an heir is asked for when it had been the giver's time
    force_misses_heir,    // a forced unlock ends who had the hold when it was begun
    extended_handed_on,   // a hold is handed on while it is being extended
    answer_awaited,       // a renewal waits for the store's whole time limit
    never_elsewhere,      // a renewal is repeated over the connection that was silent
    contact_forgotten,    // a contact that is wanted while another is in flight is forgotten
    old_grant_trusted,    // a grant that may be older than a new connection is not asked for
    end_not_reported,     // an observer never hears that a hold was released
    spin_past_deadline,   // whoever polls sleeps on when its patience is over
    spin_never_again,     // whoever polls does so once
    token_not_advanced,   // an heir has the fencing token of the giver
    token_block_overrun,  // a hold is handed on although it has no token left
    place_kept_on_leave,  // whoever gives up waiting for a fair lock stays in the queue
    free_lock_to_any,     // planted in the memory server: a fair lock is whoever's asks first
    place_not_refreshed,  // likewise: a place in the queue lasts from its beginning
    // Of shared_mutex:
    reader_joins_past_writer,    // a reader shares a hold although a writer waits before it
    reader_joins_beside_writer,  // a reader shares a hold on top of which this client writes
    write_handed_on_beside_read, // a write hold is handed on while this client reads under it
    number_of_under_reused,      // an upgrade has the owner number of its read hold
    upgrade_beside_readers,      // planted in the memory server: an upgrade disregards readers
    downgrade_in_silence,        // likewise: a write hold's end over a read hold is told nobody
    writers_mark_kept,           // a writer that gives up leaves its mark
    // Of counters:
    request_forgotten,        // planted in the memory server: a request counts each time
    cancelled_take_kept,      // what a cancelled call had taken is not given back
    permit_passed_twice,      // what is passed on here is released to the store, too
    counted_twice,            // planted in the memory server: a repeated count-down counts again
    only_first_let_through,   // who queues at a latch looks for itself, if ever
    late_arrival_let_through, // a look from before a wait began lets it through
    // Of leased permits, planted in the memory server:
    part_lost_unnoticed,   // a hold is renewed while any of its permits is there
    expired_returns_twice, // a permit whose lease is over goes back twice
    // Of rate limiters, planted in the memory server:
    window_never_moves,    // what was drawn counts for ever
    draw_given_back_twice, // what a cancelled call drew is given back with what another one drew
    // Of several locks at once:
    members_kept_on_failure, // what a failed round was granted is kept
    waits_while_holding,     // a member is waited for while another is held
    member_loss_ignored,     // a hold of several outlives a part that it needs
    minority_suffices,       // one vote is a quorum
    time_spent_ignored,      // a vote counts although its lease ended meanwhile
    restarted_node_counted,  // a node that may have forgotten votes at once
    unanswered_not_released, // what a node grants to nobody is kept
    // Of required replicas:
    renewal_counts_unconfirmed, // a renewal that too few replicas confirmed extends belief
    kept_unconfirmed,           // a grant that too few replicas confirmed is taken for one
    no_renewal_after_switch,    // of another server nothing is asked when it has taken over
    handed_on_unconfirmed,      // a hold is passed on, or shared, whatever its number of replicas
    // The same, planted in the memory server and its links:
    switch_ignored,             // who hears of another primary stays with the old one
    repetition_not_written,     // a look that is granted again writes nothing
    wait_on_another_connection, // the replicas are asked over a connection that wrote nothing
    clock_of_another_server,    // a new server is judged by what was known of the old one's clock
    listener_left_behind,       // who listens goes on listening at the old primary
    // Where holds last as long as a session:
    lease_sets_pace,        // a lease that is longer is contacted as if the store gave all of it
    session_ends_lease,     // no lease ends but with the session
    question_prolongs_none, // a fixed lease ends with the session of its grant
    ended_lease_kept,       // what has ended by our own clock is not released
    heir_has_session,       // an heir has all of it, however little it asked for
    orphans_forgotten,      // planted in the memory store: a release that failed is not repeated
    // Of token_mutex, planted in the memory server:
    any_value_deleted,        // whoever releases ends anybody's hold
    foreign_wait_never_polls, // of another program's hold it says that its release is told
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

} // namespace holdfast::sync
