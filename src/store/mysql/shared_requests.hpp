// SPDX-License-Identifier: Apache-2.0
// The requests of readers. Writers use the requests of a mutex (mutex_requests.hpp).
#pragma once

#include "store/mysql/kinds.hpp"

namespace holdfast::mysql {

// Functions of readers for the table `verbs`.
asio::awaitable<taken> take_to_read(site&, const ask&, take_terms);
asio::awaitable<released> release_read(site&, const hold&, std::shared_ptr<carrier> bell);
std::string may_be_read(const site&, const ask&);

} // namespace holdfast::mysql
