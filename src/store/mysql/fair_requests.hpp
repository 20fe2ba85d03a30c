// SPDX-License-Identifier: Apache-2.0
// The requests of a fair lock, which is granted in order of arrival (fair_texts.hpp).
#pragma once

#include "store/mysql/kinds.hpp"

namespace holdfast::mysql {

// Functions of fair locks for the table `verbs`.
asio::awaitable<taken> take_turn(site&, const ask&, take_terms);
asio::awaitable<released> release_turn(site&, const hold&, std::shared_ptr<carrier> bell);
std::string turn_may_be_had(const site&, const ask&);

} // namespace holdfast::mysql
