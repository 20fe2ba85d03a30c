// SPDX-License-Identifier: Apache-2.0
// Ids of permits in the forms of Redisson's versions: docs/protocol/permits.md.
#pragma once

#include <holdfast/redis/options.hpp>
#include <holdfast/store.hpp>

#include <string>
#include <string_view>

namespace holdfast::redis {

/// Returns a permit as the server stores it: as the bytes of its id, or before Redisson 3.17 as the
/// digits of its id. `id` must have an even number of hexadecimal digits and nothing else.
std::string stored_permit(std::string_view id, redisson_form);

/// Returns the common beginning of all permits of a client; a script appends the number.
std::string permit_prefix(const owner_id&, redisson_form);

} // namespace holdfast::redis
