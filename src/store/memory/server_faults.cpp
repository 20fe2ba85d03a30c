// SPDX-License-Identifier: Apache-2.0
// Faults that are planted in a server for the simulator, which must find them.
#include "store/memory/server_state.hpp"

namespace holdfast::memory {

void server::state::ignore_deadlines() {
    const guard lock_it{mutex_};
    deadlines_ignored_ = true;
}

void server::state::set(const fair_rules& how) {
    const guard lock_it{mutex_};
    has_.fair.set(how);
}

void server::state::upgrade_beside_readers() {
    const guard lock_it{mutex_};
    has_.shared.upgrade_beside_readers();
}

void server::state::downgrade_in_silence() {
    const guard lock_it{mutex_};
    has_.shared.downgrade_in_silence();
}

void server::state::delete_any_token() {
    const guard lock_it{mutex_};
    any_token_deleted_ = true;
}

void server::state::pass_for_one_of_ours() {
    const guard lock_it{mutex_};
    strangers_pass_for_ours_ = true;
}

void server::state::forget_requests() {
    const guard lock_it{mutex_};
    has_.counters.forget_requests();
}

void server::state::never_move_windows() {
    const guard lock_it{mutex_};
    has_.rates.never_move();
}

void server::state::give_back_draws_twice() {
    const guard lock_it{mutex_};
    has_.rates.give_back_twice();
}

void server::state::count_down_twice() {
    const guard lock_it{mutex_};
    has_.counters.count_down_twice();
}

void server::state::return_expired_twice() {
    const guard lock_it{mutex_};
    has_.permits.return_expired_twice();
}

void server::state::overlook_lost_parts() {
    const guard lock_it{mutex_};
    has_.permits.overlook_lost_parts();
}

void server::state::leave_repetitions_unwritten() {
    const guard lock_it{mutex_};
    repetitions_unwritten_ = true;
}

} // namespace holdfast::memory
