// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/mysql/kinds.hpp"

namespace holdfast::mysql {

// Functions for `verbs`, for plain and fenced locks and for writers.
asio::awaitable<taken> take_lock(site&, const ask&, take_terms);
asio::awaitable<released> release_lock(site&, const hold&, std::shared_ptr<carrier> bell);
std::string lock_may_be_had(const site&, const ask&);

} // namespace holdfast::mysql
