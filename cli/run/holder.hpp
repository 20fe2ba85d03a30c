// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/run/asked_lock.hpp"

#include <holdfast/client.hpp>

#include <string>

namespace cli {

namespace asio = holdfast::asio;

/// Length of the description of a holder.
enum class wording { brief, full };

/// Describes the holder of the lock: `held by ...`, or only its remaining lease if nothing else is
/// known. Returns an empty text if the lock is free. Throws the errors of the store.
asio::awaitable<std::string> who_holds(holdfast::client&, std::string lock, wording);

/// Exception: a key with the lock's name exists, but is not a lock. `type` is its Redis type.
struct not_a_lock {
    std::string type;
};

/// Exception: the user wants an exclusive lock, but the name belongs to a lock that can be shared,
/// or the reverse. The two kinds do not exclude each other reliably. A release of one kind does not
/// wake waiters of the other kind.
struct kept_to_share {};

/// Returns whether this kind of lock uses the keys of locks that can be shared.
inline bool can_be_shared(holdfast::lock_kind kind) {
    return kind == holdfast::lock_kind::read || kind == holdfast::lock_kind::write;
}

/// Throws `not_a_lock` if the key is not a lock, because a wait for it would never end. Throws
/// `kept_to_share` if the key belongs to a lock of the other kind. Does nothing if the key fits, or
/// if this user may not read it.
asio::awaitable<void> refuse_if_another(holdfast::client&, std::string lock, holdfast::lock_kind);

/// Calls `refuse_if_another` for each wanted lock. Does nothing on a quorum: one wrong node only
/// has no vote, and many wrong nodes make the lock fail with an error.
asio::awaitable<void> refuse_if_any_is_another(clients&, const locked_run&);

/// Describes the holder of the lock. If the user wants several locks, describes the first of them
/// that is held, with its name. On a quorum, asks the first node that can be reached.
asio::awaitable<std::string> who_holds_one(clients&, const locked_run&, wording);

} // namespace cli
