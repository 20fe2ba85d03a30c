// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/mysql/kinds.hpp"

namespace holdfast::mysql {

// Functions of plain locks, fenced locks and writers for the table `verbs`.
asio::awaitable<taken> take_lock(site&, const ask&, take_terms);
asio::awaitable<released> release_lock(site&, const hold&, std::shared_ptr<carrier> bell);
std::string lock_may_be_had(const site&, const ask&);

} // namespace holdfast::mysql
