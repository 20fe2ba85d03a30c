// SPDX-License-Identifier: Apache-2.0
#include "store/redis/redis_locks.hpp"

#include "store/redis/names.hpp"
#include "store/redis/place.hpp"
#include "store/redis/renewal.hpp"

#include <utility>

namespace holdfast::redis {

std::optional<std::string> redis_locks::objection_to(const lock_name& name) const {
    return objection_to_name(name, bounds().name_bytes_max);
}

std::unique_ptr<place> redis_locks::line_up(ask want, alarm& wake) {
    return std::make_unique<lock_place>(server_, context_, denials_, patience_, busy_, heart_,
                                        std::move(want), wake);
}

asio::awaitable<void> redis_locks::renew(hold_list holds, const renewal_wishes& how,
                                         renewal_sink& to) {
    if (heart_ && !holds.empty())
        heart_->beat(how.lease_time, context_.time.now());
    return renew_holds(server_, context_.executor, holds, how, to);
}

asio::awaitable<release_answer> redis_locks::release(hold held) {
    const verbs& how = *verbs_of(held.kind);
    const released outcome = co_await how.release(server_, held);
    denials_.note(held, outcome);
    co_return release_answer{outcome.was_ours, others_listen(held, outcome)};
}

/// Returns whether other clients are waiting for the lock. Most locks have no waiters.
bool redis_locks::others_listen(const hold& held, const released& outcome) const {
    if (!verbs_of(held.kind)->told_on)
        return outcome.receivers > 0;
    return outcome.heard_late || outcome.receivers > 1 ||
           (outcome.receivers == 1 && !server_.hears(verbs_of(held.kind)->told_on(held)));
}

} // namespace holdfast::redis
