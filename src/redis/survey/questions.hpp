// SPDX-License-Identifier: Apache-2.0
// Questions to a server that is being inspected, and readers of its replies. No I/O.
#pragma once

#include "redis/survey/report.hpp"
#include "redis/wire/reply.hpp"

#include <holdfast/redis/options.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::redis {

class slot_map;

enum class questioned : bool { server, node_of_cluster };

/// Returns all questions, in the form in which they are sent.
std::string questions_for(questioned);
std::size_t count_of_questions(questioned);

/// Reads the replies, in the order of the questions. `map` has the owner of each slot according to
/// most nodes; it must not be null for a cluster node. Malformed replies are ignored.
server_report read_answers(questioned, const std::vector<reply>&, const server_address& asked,
                           const slot_map* map);

} // namespace holdfast::redis
