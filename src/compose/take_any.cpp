// SPDX-License-Identifier: Apache-2.0
// Takes the first member that becomes free. The call waits for all members at once, and then
// cancels its requests to the others.
#include "compose/joint_subject.hpp"
#include "compose/rounds.hpp"
#include "sync/worded_error.hpp"

#include <string>
#include <utility>

namespace holdfast::compose {
namespace {

/// Returns the index of the first member that granted, or `size()` if no member did.
std::size_t granted_one(const inquiry& round) {
    std::size_t which = 0;
    while (which < round.size() && !(round.granted(which) && round.answer(which).got.believed()))
        ++which;
    return which;
}

bool all_failed(const inquiry& round) {
    for (std::size_t which = 0; which < round.size(); ++which)
        if (!round.failed(which))
            return false;
    return true;
}

/// Returns whether a member was granted, and was lost before the call could use it.
bool lost_one(const inquiry& round) {
    for (std::size_t which = 0; which < round.size(); ++which)
        if (round.granted(which) && !round.answer(which).got.believed())
            return true;
    return false;
}

/// Maximal number of grants that are lost before use. Then the call fails.
constexpr int losses_max = 3;

bool goes_on(const sync::acquisition& call) {
    return call.wanted.patient && call.home->now() < call.wanted.give_up_at;
}

} // namespace

asio::awaitable<std::shared_ptr<sync::tenure>>
any_subject::take(std::shared_ptr<sync::acquisition> call) const {
    for (int losses = 0; losses < losses_max; ++losses) {
        const retired_with_scope round{std::make_shared<inquiry>(home, members, call->wake())};
        const duration rest = call->wanted.give_up_at - home->now();
        question how{.patience = call->wanted.patient ? rest : duration::zero()};
        if (!call->wanted.renewed)
            how.lease = call->wanted.lease;
        round->ask_all(how);
        const time_point limit = answered_by(*home, *round, how.patience);
        auto decided = [&round] {
            return round->open() == 0 || granted_one(*round) < round->size();
        };
        co_await wait_for_answers(*call, limit, decided);
        const std::size_t which = granted_one(*round);
        if (call->finished())
            co_return nullptr;
        if (which < round->size())
            co_return round->answer(which).got.take();
        if (all_failed(*round))
            throw sync::worded_error{first_failure(*round, members)};
        if (!lost_one(*round) || !goes_on(*call))
            co_return nullptr;
        co_await let_go(*call, *round);
    }
    throw sync::worded_error{
        {make_error_code(errc::unreachable),
         "what was granted was lost at once, " + std::to_string(losses_max) + " times"}};
}

} // namespace holdfast::compose
