// SPDX-License-Identifier: Apache-2.0
#include "store/redis/mutex_store.hpp"

#include "store/redis/mutex_requests.hpp"
#include "store/redis/names.hpp"
#include "store/redis/place.hpp"
#include "store/redis/renewal.hpp"

#include <utility>

namespace holdfast::redis {

std::optional<std::string> mutex_store::objection_to(const lock_name& name) const {
    return objection_to_name(name, bounds().name_bytes_max);
}

std::unique_ptr<place> mutex_store::line_up(ask want, alarm& wake) {
    return std::make_unique<mutex_place>(server_, context_, denials_, heart_, std::move(want),
                                         wake);
}

asio::awaitable<void> mutex_store::renew(hold_list holds, const renewal_wishes& how,
                                         renewal_sink& to) {
    if (heart_ && !holds.empty())
        heart_->beat(how.lease_time, context_.time.now());
    return renew_leases(server_, context_.executor, holds, how, to);
}

asio::awaitable<release_answer> mutex_store::release(hold held) {
    const released outcome = co_await release_mutex(server_, held);
    denials_.note(held.name, outcome);
    co_return release_answer{outcome.was_ours, others_listen(held.name, outcome.receivers)};
}

/// Beside ourselves: most locks nobody waits for.
bool mutex_store::others_listen(const lock_name& name, std::int64_t receivers) const {
    return receivers > 1 || (receivers == 1 && !server_.hears(lock_channel(name)));
}

} // namespace holdfast::redis
