// SPDX-License-Identifier: Apache-2.0
#include "sync/lock_object.hpp"

#include "sync/engine.hpp"

namespace holdfast::sync {

lock_object::lock_object(std::shared_ptr<engine> e, lock_name n, duration l, recursion r,
                         ending how)
    : home{std::move(e)}
    , name{std::move(n)}
    , lease{l}
    , again{r}
    , how_released{how} {}

request lock_object::request_for(duration patience, std::optional<duration> wanted_lease) const {
    return request{.name = name,
                   .lease = wanted_lease.value_or(lease),
                   .renewed = !wanted_lease,
                   .patient = patience > duration::zero(),
                   .give_up_at = later(home->now(), std::max(patience, duration::zero())),
                   .deferred = how_released == ending::deferred};
}

} // namespace holdfast::sync
