// SPDX-License-Identifier: Apache-2.0
// What a server reports about itself in answer to the four-letter word "srvr". No I/O, no clock.
#pragma once

#include "zookeeper/session.hpp"

#include <string_view>

namespace holdfast::zookeeper {

/// The four-letter word that asks for facts. It is sent without a frame. The server closes the
/// connection after its answer.
inline constexpr std::string_view word_for_facts = "srvr";

/// Adds the facts in the answer to `to`. Any other answer adds nothing, for example the answer of a
/// proxy that blocks "srvr".
void read_facts(std::string_view answer, server_seen& to);

} // namespace holdfast::zookeeper
