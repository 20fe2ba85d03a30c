// SPDX-License-Identifier: Apache-2.0
#include "sim/planted.hpp"

#include "store/memory/group.hpp"
#include "store/memory/server_state.hpp"
#include "sync/mutants.hpp"

namespace holdfast::sim {

using sync::mutant;
using sync::planted;

void plant_faults(memory::server& server, duration jvms_wait) {
    const auto inside = server.inside();
    if (planted(mutant::deadline_ignored))
        memory::ignore_deadlines(server);
    inside->set(memory::fair_rules{.jvm_wait = jvms_wait,
                                   .free_to_any = planted(mutant::free_lock_to_any),
                                   .never_refresh = planted(mutant::place_not_refreshed)});
    if (planted(mutant::orphans_forgotten))
        server.machines()->forget_orphans();
    if (planted(mutant::upgrade_beside_readers))
        inside->upgrade_beside_readers();
    if (planted(mutant::downgrade_in_silence))
        inside->downgrade_in_silence();
    if (planted(mutant::any_value_deleted))
        inside->delete_any_token();
    if (planted(mutant::foreign_wait_never_polls))
        inside->pass_for_one_of_ours();
    if (planted(mutant::request_forgotten))
        inside->forget_requests();
    if (planted(mutant::counted_twice))
        inside->count_down_twice();
    if (planted(mutant::part_lost_unnoticed))
        inside->overlook_lost_parts();
    if (planted(mutant::expired_returns_twice))
        inside->return_expired_twice();
    if (planted(mutant::window_never_moves))
        inside->never_move_windows();
    if (planted(mutant::draw_given_back_twice))
        inside->give_back_draws_twice();
}

} // namespace holdfast::sim
