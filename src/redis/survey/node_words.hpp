// SPDX-License-Identifier: Apache-2.0
// Readers of a cluster node's replies about slots. No I/O.
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

/// Returns the slots for which a node's CLUSTER SLOTS reply names another owner than the map. A
/// node with such slots is behind the other nodes. Slots for which the node names no owner do not
/// count. Throws the errors of read_slots().
std::optional<dissent> dissent_in(const reply& slots, const server_address& asked, const slot_map&);

} // namespace holdfast::redis
