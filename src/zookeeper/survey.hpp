// SPDX-License-Identifier: Apache-2.0
// What a server reports about itself in answer to the four-letter word "srvr". No I/O, no clock.
#pragma once

#include "zookeeper/session.hpp"

#include <string_view>

namespace holdfast::zookeeper {

/// The four-letter word. It is sent without a frame, and the server closes the connection after its
/// answer.
inline constexpr std::string_view word_for_facts = "srvr";

/// Adds to `to` what the answer says. Any other answer adds nothing, for example the answer of a
/// proxy that blocks "srvr".
void read_facts(std::string_view answer, server_seen& to);

} // namespace holdfast::zookeeper
