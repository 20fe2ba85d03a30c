// SPDX-License-Identifier: Apache-2.0
// What a node of a cluster says of slots. No I/O.
#pragma once

#include "redis/survey/report.hpp"
#include "redis/wire/reply.hpp"

#include <holdfast/redis/options.hpp>

#include <optional>
#include <string_view>

namespace holdfast::redis {

class slot_map;

/// By CLUSTER NODES, where a node tells of itself alone: `[93->-id]`, `[93-<-id]`.
open_slots open_in(std::string_view nodes);

/// A node that is behind the others, by CLUSTER SLOTS; not one that names nobody. Throws as
/// read_slots.
std::optional<dissent> dissent_in(const reply& slots, const server_address& asked, const slot_map&);

} // namespace holdfast::redis
