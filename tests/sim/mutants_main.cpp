// SPDX-License-Identifier: Apache-2.0
// Checks the checkers: plants one fault at a time in the library, and each must be found.
//
//     sim_mutants [--seeds N] [--only MUTANT [--trace SEED]] [--part I --of N]
//
// Exit status: 0 when the library itself is clean and every mutant was found.
#include "sim/several/staging.hpp"
#include "sync/mutants.hpp"

#include <algorithm>
#include <array>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace holdfast;
using sim::repertoire;
using sync::mutant;

struct fault {
    mutant planted;
    std::string_view name;
    repertoire where = repertoire::single; ///< whose seeds shall find it
};

#define HOLDFAST_FAULT(name)                                                                       \
    fault {                                                                                        \
        mutant::name, #name                                                                        \
    }
#define HOLDFAST_FAULT_OF(where, name)                                                             \
    fault {                                                                                        \
        mutant::name, #name, repertoire::where                                                     \
    }
constexpr std::array faults{
    // The library itself, in each kind of world.
    fault{mutant::none, "(nothing)"},
    fault{mutant::none, "(nothing), together", repertoire::together},
    fault{mutant::none, "(nothing), quorum", repertoire::quorum},
    fault{mutant::none, "(nothing), replicas", repertoire::replicas},
    fault{mutant::none, "(nothing), sessions", repertoire::sessions},
    HOLDFAST_FAULT(no_margin),
    HOLDFAST_FAULT(release_not_sent),
    HOLDFAST_FAULT(wake_dropped_no_poll),
    HOLDFAST_FAULT(renew_after_release),
    HOLDFAST_FAULT(stale_lease_believed),
    HOLDFAST_FAULT(lease_from_answer),
    HOLDFAST_FAULT(no_second_release),
    HOLDFAST_FAULT(deadline_ignored),
    HOLDFAST_FAULT(no_release_on_cancel),
    HOLDFAST_FAULT(gate_skips_next),
    HOLDFAST_FAULT(refusal_ignored),
    HOLDFAST_FAULT(renewal_gives_up),
    HOLDFAST_FAULT(number_used_twice),
    HOLDFAST_FAULT(hand_off_unbounded),
    HOLDFAST_FAULT(lost_lease_handed_on),
    HOLDFAST_FAULT(short_term_handed_on),
    HOLDFAST_FAULT(failure_takes_batch),
    HOLDFAST_FAULT(release_gives_up),
    HOLDFAST_FAULT(throw_unwinds_us),
    HOLDFAST_FAULT(heir_has_it_all),
    HOLDFAST_FAULT(heir_asked_for_late),
    HOLDFAST_FAULT(force_misses_heir),
    HOLDFAST_FAULT(extended_handed_on),
    HOLDFAST_FAULT(answer_awaited),
    HOLDFAST_FAULT(never_elsewhere),
    HOLDFAST_FAULT(contact_forgotten),
    HOLDFAST_FAULT(old_grant_trusted),
    HOLDFAST_FAULT(end_not_reported),
    HOLDFAST_FAULT(spin_past_deadline),
    HOLDFAST_FAULT(spin_never_again),
    HOLDFAST_FAULT(token_not_advanced),
    HOLDFAST_FAULT(token_block_overrun),
    HOLDFAST_FAULT(place_kept_on_leave),
    HOLDFAST_FAULT(free_lock_to_any),
    HOLDFAST_FAULT(place_not_refreshed),
    HOLDFAST_FAULT(reader_joins_past_writer),
    HOLDFAST_FAULT(reader_joins_beside_writer),
    HOLDFAST_FAULT(write_handed_on_beside_read),
    HOLDFAST_FAULT(number_of_under_reused),
    HOLDFAST_FAULT(upgrade_beside_readers),
    HOLDFAST_FAULT(downgrade_in_silence),
    HOLDFAST_FAULT(writers_mark_kept),
    HOLDFAST_FAULT(any_value_deleted),
    HOLDFAST_FAULT(foreign_wait_never_polls),
    HOLDFAST_FAULT(request_forgotten),
    HOLDFAST_FAULT(cancelled_take_kept),
    HOLDFAST_FAULT(permit_passed_twice),
    HOLDFAST_FAULT(counted_twice),
    HOLDFAST_FAULT(only_first_let_through),
    HOLDFAST_FAULT(late_arrival_let_through),
    HOLDFAST_FAULT(part_lost_unnoticed),
    HOLDFAST_FAULT(expired_returns_twice),
    HOLDFAST_FAULT(window_never_moves),
    HOLDFAST_FAULT(draw_given_back_twice),
    HOLDFAST_FAULT_OF(together, members_kept_on_failure),
    HOLDFAST_FAULT_OF(together, waits_while_holding),
    HOLDFAST_FAULT_OF(together, member_loss_ignored),
    HOLDFAST_FAULT_OF(quorum, minority_suffices),
    HOLDFAST_FAULT_OF(quorum, time_spent_ignored),
    HOLDFAST_FAULT_OF(quorum, restarted_node_counted),
    HOLDFAST_FAULT_OF(quorum, unanswered_not_released),
    HOLDFAST_FAULT_OF(replicas, renewal_counts_unconfirmed),
    HOLDFAST_FAULT_OF(replicas, kept_unconfirmed),
    HOLDFAST_FAULT_OF(replicas, no_renewal_after_switch),
    HOLDFAST_FAULT_OF(replicas, handed_on_unconfirmed),
    HOLDFAST_FAULT_OF(replicas, switch_ignored),
    HOLDFAST_FAULT_OF(replicas, repetition_not_written),
    HOLDFAST_FAULT_OF(replicas, wait_on_another_connection),
    HOLDFAST_FAULT_OF(replicas, clock_of_another_server),
    HOLDFAST_FAULT_OF(replicas, listener_left_behind),
    HOLDFAST_FAULT_OF(sessions, lease_sets_pace),
    HOLDFAST_FAULT_OF(sessions, session_ends_lease),
    HOLDFAST_FAULT_OF(sessions, question_prolongs_none),
    HOLDFAST_FAULT_OF(sessions, ended_lease_kept),
    HOLDFAST_FAULT_OF(sessions, heir_has_session),
    HOLDFAST_FAULT_OF(sessions, orphans_forgotten),
    HOLDFAST_FAULT_OF(sessions, part_lost_unnoticed),
};
#undef HOLDFAST_FAULT
#undef HOLDFAST_FAULT_OF

/// These worlds are larger: a fault of theirs is found sooner, or never.
constexpr std::uint64_t seeds_of_several = 500;

/// The first seed that fails, if one does.
std::optional<sim::result> hunt(mutant m, repertoire where, std::uint64_t seeds) {
    sync::planted_mutant = m;
    std::ostringstream unread;
    const std::uint64_t last =
        where == repertoire::single ? seeds : std::min(seeds, seeds_of_several);
    for (std::uint64_t seed = 1; seed <= last; ++seed) {
        const sim::result r = sim::play(where, seed, unread, sim::telling_of::nothing);
        if (r.broken)
            return r;
    }
    return std::nullopt;
}

int trace(std::string_view name, std::uint64_t seed) {
    repertoire where = repertoire::single;
    for (const fault& f : faults)
        if (f.name == name) {
            sync::planted_mutant = f.planted;
            where = f.where;
        }
    return sim::play(where, seed, std::cout, sim::telling_of::everything).broken ? 1 : 0;
}

void row(std::string_view name, const std::optional<sim::result>& found) {
    std::cout << std::left << std::setw(28) << name;
    if (found)
        std::cout << "seed " << std::setw(6) << found->seed << std::setw(26)
                  << found->broken->invariant << found->broken->story << std::endl;
    else
        std::cout << "-" << std::endl;
}

struct order {
    std::uint64_t seeds = 1500;
    std::uint64_t traced = 0; ///< a seed; 0: none
    std::string only;
    std::size_t part = 1, of = 1; ///< so that several programs share the work
};

order order_in(const std::vector<std::string>& words) {
    order wanted;
    for (std::size_t i = 0; i + 1 < words.size(); i += 2) {
        const std::string &option = words[i], &value = words[i + 1];
        if (option == "--seeds")
            wanted.seeds = std::stoull(value);
        else if (option == "--only")
            wanted.only = value;
        else if (option == "--trace")
            wanted.traced = std::stoull(value);
        else if (option == "--part")
            wanted.part = std::stoull(value);
        else if (option == "--of")
            wanted.of = std::stoull(value);
    }
    return wanted;
}

} // namespace

int main(int argc, char** argv) {
    const order wanted = order_in({argv + 1, argv + argc});
    if (wanted.part < 1 || wanted.part > wanted.of) {
        std::cerr << "--part is 1 to the number that --of says\n";
        return 2;
    }
    if (wanted.traced != 0)
        return trace(wanted.only, wanted.traced);

    std::cout << std::left << std::setw(28) << "planted" << std::setw(11) << "found by"
              << std::setw(26) << "invariant"
              << "what it saw\n";
    int rows = 0, wrong = 0;
    for (std::size_t i = wanted.part - 1; i < faults.size(); i += wanted.of) {
        const fault& f = faults[i];
        if (!wanted.only.empty() && wanted.only != f.name)
            continue;
        const auto found = hunt(f.planted, f.where, wanted.seeds);
        row(f.name, found);
        ++rows;
        wrong += found.has_value() == (f.planted == mutant::none) ? 1 : 0;
    }
    if (wrong != 0)
        std::cout << wrong
                  << " rows are not as they should be: only the library without a planted "
                     "fault may go undetected for "
                  << wanted.seeds << " seeds\n";
    if (rows == 0)
        std::cout << "no row is of that name and in that part\n";
    return wrong == 0 && rows != 0 ? 0 : 1;
}
