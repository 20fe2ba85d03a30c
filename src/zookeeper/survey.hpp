// SPDX-License-Identifier: Apache-2.0
// What servers say of themselves to who knows the word "srvr". No I/O, no clock.
#pragma once

#include "zookeeper/session.hpp"

#include <string_view>

namespace holdfast::zookeeper {

/// The word, as it is sent: without a frame, and the server hangs up behind its answer.
inline constexpr std::string_view word_for_facts = "srvr";

/// Adds what that answer says. Another one, as of a proxy that keeps
/// that word back, says nothing.
void read_facts(std::string_view answer, server_seen& to);

} // namespace holdfast::zookeeper
