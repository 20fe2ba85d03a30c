// SPDX-License-Identifier: Apache-2.0
// The ids of permits in the forms that Redisson's releases have: docs/protocol/permits.md.
#pragma once

#include <holdfast/redis/options.hpp>
#include <holdfast/store.hpp>

#include <string>
#include <string_view>

namespace holdfast::redis {

/// A permit as the server has it: the bytes that its id writes as digits, or before Redisson 3.17
/// the digits themselves. `id` has only such digits, an even number of them.
std::string stored_permit(std::string_view id, redisson_form);

/// What all permits of a client begin with there: a script appends the number.
std::string permit_prefix(const owner_id&, redisson_form);

} // namespace holdfast::redis
