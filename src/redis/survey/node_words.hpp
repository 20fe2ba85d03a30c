// SPDX-License-Identifier: Apache-2.0
// What a cluster node says about slots. No I/O.
#pragma once

#include "redis/survey/report.hpp"
#include "redis/wire/reply.hpp"

#include <holdfast/redis/options.hpp>

#include <optional>
#include <string_view>

namespace holdfast::redis {

class slot_map;

/// Returns the slots that are being migrated or imported, from a CLUSTER NODES reply. A node lists
/// only its own: `[93->-id]` is migrating, `[93-<-id]` is importing.
open_slots open_in(std::string_view nodes);

/// Returns the slots for which a node's CLUSTER SLOTS reply names another owner than the map. Such
/// a node is behind the others. Slots for which it names no owner do not count. Throws as
/// read_slots() does.
std::optional<dissent> dissent_in(const reply& slots, const server_address& asked, const slot_map&);

} // namespace holdfast::redis
