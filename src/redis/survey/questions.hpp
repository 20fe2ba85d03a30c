// SPDX-License-Identifier: Apache-2.0
// What is asked of a server that is examined, and what its answers mean. No I/O.
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

/// All of them, as they are sent.
std::string questions_for(questioned);
std::size_t count_of_questions(questioned);

/// The answers to these, in their order. `map`: who has which slots, as most nodes say; not null
/// for a node of a cluster. What makes no sense is as if it were not told.
server_report read_answers(questioned, const std::vector<reply>&, const server_address& asked,
                           const slot_map* map);

} // namespace holdfast::redis
