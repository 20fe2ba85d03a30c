// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/run/asked_lock.hpp"

#include <holdfast/client.hpp>

#include <string>

namespace cli {

namespace asio = holdfast::asio;

/// How much to say of a holder.
enum class wording { brief, full };

/// Describes the holder of the lock: `held by ...`, or only its remaining lease if nothing else is
/// known. Empty if the lock is free. Throws the errors of the store.
asio::awaitable<std::string> who_holds(holdfast::client&, std::string lock, wording);

/// Exception: the lock's name belongs to something that is not a lock. `type` is its Redis type.
struct not_a_lock {
    std::string type;
};

/// Exception: the name belongs to a lock that can be shared, and a lock of another kind is wanted.
/// Holders of the two kinds exclude each other only by chance, and a release of one kind does not
/// wake waiters of the other.
struct kept_to_share {};

/// Returns whether this kind of lock uses the keys of locks that can be shared.
inline bool can_be_shared(holdfast::lock_kind kind) {
    return kind == holdfast::lock_kind::read || kind == holdfast::lock_kind::write;
}

/// Throws `not_a_lock` if the name belongs to something that is not a lock, because a wait for it
/// would never end. Throws `kept_to_share` as explained there. Returns if all is well, or if this
/// user may not look.
asio::awaitable<void> refuse_if_another(holdfast::client&, std::string lock, holdfast::lock_kind);

/// Checks each wanted lock as `refuse_if_another` does. Does nothing on a quorum: a single wrong
/// node is only a node without a vote, and many wrong nodes are reported by the servers themselves.
asio::awaitable<void> refuse_if_any_is_another(clients&, const locked_run&);

/// Describes the holder of the lock, or of the first of several locks that is held, with that
/// lock's name. On a quorum, the first node that can be asked decides.
asio::awaitable<std::string> who_holds_one(clients&, const locked_run&, wording);

} // namespace cli
