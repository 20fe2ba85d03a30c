// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sync/engine.hpp"
#include "sync/lock_object.hpp"
#include "validation.hpp"

namespace holdfast::front {

/// The lease time that a call names, checked. Throws `errc::invalid_argument`.
inline std::optional<duration> wanted_lease(const sync::lock_object& lock,
                                            const detail::wish& how) {
    if (!how.lease)
        return std::nullopt;
    return checked_lease(how.lease->value, std::as_const(*lock.home).locks().bounds());
}

inline sync::request request_for(const sync::lock_object& lock, const detail::wish& how) {
    return lock.request_for(how.patience, wanted_lease(lock, how));
}

} // namespace holdfast::front
