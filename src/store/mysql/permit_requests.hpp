// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/mysql/kinds.hpp"

namespace holdfast::mysql {

// Functions of leased semaphores for the table `verbs`.
asio::awaitable<taken> take_permits(site&, const ask&, take_terms);
asio::awaitable<released> return_permits(site&, const hold&, std::shared_ptr<carrier> bell);
std::string permits_are_free(const site&, const ask&);

} // namespace holdfast::mysql
