// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace holdfast::redis {

/// A cluster shares out so many slots among its primaries; each key is in one of them.
inline constexpr std::size_t slot_count = 16384;

/// What a cluster hashes to place a key: the text between the first `{` and the next `}` behind
/// it, and the whole key where there is no such text.
std::string_view hashed_part(std::string_view key);

/// The slot of a key, as CLUSTER KEYSLOT tells it.
std::uint16_t key_slot(std::string_view key);

} // namespace holdfast::redis
