// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sync/subject.hpp"

#include <holdfast/basic_counter.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace holdfast::sync {

/// Descriptor of a counter object. A counter grants no holds, so it uses only the name and the
/// `lease` of the base class. Here `lease` is how long the store may remember the request of a
/// caller that no longer waits.
class counter_subject final : public subject {
public:
    counter_subject(std::shared_ptr<engine> e, lock_name n, duration memory,
                    const detail::counter_setup& how)
        : subject{std::move(e), std::move(n), memory, {.replicas = how.replicas}}
        , what{how.kind}
        , most{how.most} {}

    const counter_kind what;
    const std::int64_t most; ///< largest number of permits; 0: no limit

    family kin() const noexcept override { return family_of(what); }
    std::optional<counter_kind> counts() const noexcept override { return what; }
};

} // namespace holdfast::sync
