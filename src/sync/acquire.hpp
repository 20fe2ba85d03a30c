// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sync/acquisition.hpp"
#include "sync/grant.hpp"

#include <optional>

namespace holdfast::sync {

/// Asks the store for the lock until the store grants it or the call is over. Returns nothing if
/// the timeout has passed (`give_up_busy`), or if the call was completed in another way. Throws the
/// store's errors. Without success, it releases in the background whatever the store may have
/// granted.
asio::awaitable<std::optional<grant>> acquire(std::shared_ptr<acquisition>);

} // namespace holdfast::sync
