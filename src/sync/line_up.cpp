// SPDX-License-Identifier: Apache-2.0
#include "sync/line_up.hpp"

#include "sync/engine.hpp"
#include "sync/seen_free.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace holdfast::sync {
namespace {

/// Returns how many fencing tokens to request. Each owner that may get the hold by hand-off needs
/// its own token.
std::uint32_t tokens_wanted(const acquisition& call) {
    gate* const here = call.home->queues().find(key_of(call));
    if (call.wanted.of->kind != lock_kind::fenced || !here || !here->first())
        return 1;
    const std::uint64_t heirs = call.home->how().hand_off.times_max;
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(heirs + 1, tokens_reserved_max));
}

} // namespace

std::unique_ptr<place> line_up(acquisition& call, owner_id owner) {
    const subject& lock = *call.wanted.of;
    if (!call.wanted.takes)
        return std::make_unique<seen_free>(*call.home, lock.name, call.wake());
    if (const std::optional<counter_kind> counts = lock.counts()) {
        counter_ask amount{lock.name, owner, *counts, call.wanted.amount};
        amount.give_up_at = call.wanted.give_up_at;
        amount.replicas = lock.replicas;
        return call.home->counters()->line_up(std::move(amount), call.wake());
    }
    holdfast::ask want{lock.name, owner, lock.kind};
    want.lease_time = call.wanted.lease;
    want.give_up_at = call.wanted.give_up_at;
    want.waits = call.wanted.patient;
    want.outlasts = lock.polls ? 2 * lock.polls->longest : lock.outlasts;
    want.tokens = tokens_wanted(call);
    want.numbers = lock.numbers;
    want.permits = call.wanted.permits();
    want.replicas = lock.replicas;
    if (call.wanted.under)
        want.under = call.wanted.under->what.owner.number;
    return call.home->locks().line_up(std::move(want), call.wake());
}

} // namespace holdfast::sync
