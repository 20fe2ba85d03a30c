// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace holdfast::redis {

/// Number of slots in a cluster. Each key belongs to one slot, and each slot to one primary.
inline constexpr std::size_t slot_count = 16384;

/// Returns the part of a key that the cluster hashes. It is the text between the first `{` and the
/// next `}`. It is the whole key if there is no such text or if the text is empty.
std::string_view hashed_part(std::string_view key);

/// Returns the slot of a key: the number that CLUSTER KEYSLOT returns.
std::uint16_t key_slot(std::string_view key);

} // namespace holdfast::redis
