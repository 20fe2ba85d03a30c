// SPDX-License-Identifier: Apache-2.0
// Ids of permits, in the formats of the Redisson versions: docs/protocol/permits.md.
#pragma once

#include <holdfast/redis/options.hpp>
#include <holdfast/store.hpp>

#include <string>
#include <string_view>

namespace holdfast::redis {

/// Returns a permit in the form that the server stores. Since Redisson 3.17 this is the bytes of
/// the id; before, the digits of the id. `id` must have an even number of hexadecimal digits and
/// nothing else.
std::string stored_permit(std::string_view id, redisson_form);

/// Returns the common beginning of all permit ids of a client. A script appends the number.
std::string permit_prefix(const owner_id&, redisson_form);

} // namespace holdfast::redis
