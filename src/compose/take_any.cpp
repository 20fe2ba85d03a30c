// SPDX-License-Identifier: Apache-2.0
// Whichever member is free first: all are waited for at once, and the others are cancelled then.
#include "compose/joint_subject.hpp"
#include "compose/rounds.hpp"
#include "sync/worded_error.hpp"

#include <utility>

namespace holdfast::compose {
namespace {

/// The first that was granted; `size()`: none was.
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

} // namespace

asio::awaitable<std::shared_ptr<sync::tenure>>
any_subject::take(std::shared_ptr<sync::acquisition> call) const {
    const retired_with_scope round{std::make_shared<inquiry>(home, members, call->wake())};
    const duration rest = call->wanted.give_up_at - home->now();
    question how{.patience = call->wanted.patient ? rest : duration::zero()};
    if (!call->wanted.renewed)
        how.lease = call->wanted.lease;
    round->ask_all(how);
    const time_point limit = answered_by(*home, *round, how.patience);
    auto decided = [&round] { return round->open() == 0 || granted_one(*round) < round->size(); };
    co_await wait_for_answers(*call, limit, decided);
    const std::size_t which = granted_one(*round);
    if (call->finished())
        co_return nullptr;
    if (which < round->size())
        co_return round->answer(which).got.take();
    if (all_failed(*round))
        throw sync::worded_error{first_failure(*round, members)};
    co_return nullptr;
}

} // namespace holdfast::compose
