// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/client.hpp>

#include <string>

namespace cli {

namespace asio = holdfast::asio;

/// How much is to be said of a holder.
enum class wording { brief, full };

/// Who holds the lock, for people: `held by ...`, or on what lease where that is all that is known;
/// empty if it is free. Throws what the store throws.
asio::awaitable<std::string> who_holds(holdfast::client&, std::string lock, wording);

} // namespace cli
