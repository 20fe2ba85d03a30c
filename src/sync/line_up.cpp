// SPDX-License-Identifier: Apache-2.0
#include "sync/line_up.hpp"

#include "sync/engine.hpp"
#include "sync/seen_free.hpp"

#include <utility>

namespace holdfast::sync {

std::unique_ptr<place> line_up(acquisition& call, owner_id owner) {
    const subject& lock = *call.wanted.of;
    if (!call.wanted.takes)
        return std::make_unique<seen_free>(*call.home, lock.name, call.wake());
    holdfast::ask want{lock.name, owner, lock.kind};
    want.lease_time = call.wanted.lease;
    want.give_up_at = call.wanted.give_up_at;
    want.waits = call.wanted.patient;
    want.outlasts = lock.outlasts;
    want.numbers = lock.numbers;
    if (call.wanted.under)
        want.under = call.wanted.under->what.owner.number;
    return call.home->locks().line_up(std::move(want), call.wake());
}

} // namespace holdfast::sync
