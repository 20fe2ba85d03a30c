// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/client.hpp>

#include <string>

namespace cli {

namespace asio = holdfast::asio;

/// Who holds the lock, for people: `held by ...`; empty if it is free. Throws what the store
/// throws.
asio::awaitable<std::string> who_holds(holdfast::client&, std::string lock);

} // namespace cli
