// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/run/asked_lock.hpp"

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

/// Under that name is a lock that can be shared, and another is wanted: their holders exclude each
/// other by chance alone, and do not wake each other.
struct kept_to_share {};

/// Whether the lock has the keys of those that can be shared.
inline bool can_be_shared(holdfast::lock_kind kind) {
    return kind == holdfast::lock_kind::read || kind == holdfast::lock_kind::write;
}

/// Throws `not_a_lock`: nobody releases that, so a wait for it would have no end; or
/// `kept_to_share`. Returns where this cannot be seen, as by a user who may not look.
asio::awaitable<void> refuse_if_another(holdfast::client&, std::string lock, holdfast::lock_kind);

/// Likewise of each lock that is wanted. Not on a quorum, where one odd node is a node without a
/// vote, and many are refused by the servers themselves.
asio::awaitable<void> refuse_if_any_is_another(clients&, const locked_run&);

/// Who holds the lock, or the first of several that is held, with its name; on a quorum as the
/// first node says that can be asked.
asio::awaitable<std::string> who_holds_one(clients&, const locked_run&, wording);

} // namespace cli
