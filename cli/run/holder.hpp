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

/// Under the lock's name is something that no lock could ever be; its type, as Redis calls it.
struct not_a_lock {
    std::string type;
};

/// Throws `not_a_lock`: nobody releases that, so a wait for it would have no end. Returns where
/// this cannot be seen, as by a user who may not look.
asio::awaitable<void> refuse_if_no_lock(holdfast::client&, std::string lock);

} // namespace cli
