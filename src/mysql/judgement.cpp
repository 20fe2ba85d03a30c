// SPDX-License-Identifier: Apache-2.0
#include "mysql/judgement.hpp"

#include <algorithm>

namespace holdfast::mysql {
namespace {

bool succeeded(const said& one) {
    return one.what.error == 0;
}

/// Returns whether a statement matched rows. COMMIT matches no rows, so the end of a transaction
/// without changes does not count as a change.
bool changed_rows(const said& one) {
    return succeeded(one) && one.what.matched > 0;
}

judgement judge_success(std::span<const said> all, const call_wishes& wishes) {
    using outcome = judgement::outcome;
    const bool open = !all.empty() && all.back().open;
    if (!open)
        return {outcome::carried_out, all.size()};
    return {wishes.leaves_open ? outcome::left_open : outcome::unknown, all.size()};
}

} // namespace

judgement judge(std::span<const said> all, bool was_open, const call_wishes& wishes) {
    using outcome = judgement::outcome;
    constexpr unsigned lock_wait_over = 1205;
    const auto found = std::ranges::find_if_not(all, succeeded);
    if (found == all.end())
        return judge_success(all, wishes);
    const auto failed = static_cast<std::size_t>(found - all.begin());
    if (failed == wishes.may_meet_lock && found->what.error == lock_wait_over)
        return {outcome::met_lock, failed};
    const bool in_transaction = failed == 0 ? was_open : all[failed - 1].open;
    if (!in_transaction && failed == 0)
        return {outcome::not_carried_out, failed};
    if (!in_transaction)
        return {wishes.rest_is_hint ? outcome::carried_out : outcome::unknown, failed};
    // Some errors end the transaction. Each statement after the error is then a transaction by
    // itself.
    const bool went_on = std::any_of(found, all.end(), succeeded);
    const bool may_have_changed = was_open || std::ranges::any_of(all, changed_rows);
    return {went_on && may_have_changed ? outcome::unknown : outcome::not_carried_out, failed};
}

} // namespace holdfast::mysql
