// SPDX-License-Identifier: Apache-2.0
#include "sync/subject.hpp"

#include "sync/engine.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::sync {

subject::subject(std::shared_ptr<engine> e, lock_name n, duration l, const detail::lock_setup& how)
    : home{std::move(e)}
    , name{std::move(n)}
    , kind{how.kind}
    , lease{l}
    , again{how.again}
    , deferred{how.deferred}
    , polls{how.polls}
    , outlasts{how.outlasts}
    , numbers{how.numbers} {}

request request_for(std::shared_ptr<const subject> of, duration patience,
                    std::optional<duration> wanted_lease) {
    const duration lease = wanted_lease.value_or(of->lease);
    const time_point give_up_at = later(of->home->now(), std::max(patience, duration::zero()));
    return request{.of = std::move(of),
                   .lease = lease,
                   .renewed = !wanted_lease,
                   .patient = patience > duration::zero(),
                   .give_up_at = give_up_at};
}

} // namespace holdfast::sync
