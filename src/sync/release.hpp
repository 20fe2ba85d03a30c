// SPDX-License-Identifier: Apache-2.0
// Functions that release holds in the store, and functions that undo attempts that ended without a
// hold.
#pragma once

#include "sync/acquisition.hpp"

#include <memory>

namespace holdfast::sync {

/// Calls the handler of a release with the result. If the handler throws, the executor rethrows the
/// exception later; see run_users_own().
void tell(const engine&, release_handler, failure);

/// Ends one share of a hold, because a lease or a thread no longer needs the hold. After the last
/// share, the hold is released in the store. The release is repeated after every failure, until the
/// store has acknowledged it or has forgotten the hold.
///
/// The handler is called within `release_timeout` plus one command timeout. If the server refuses
/// the release, the handler is called at once. Call it on the executor only. The requests run on
/// `where`, see engine::spawn().
void release(std::shared_ptr<held_lock>, release_handler, const asio::any_io_executor& where);
void release(std::shared_ptr<held_lock>, release_handler);

/// Removes, in the background, what an unwanted attempt may have in the store: a hold or an entry
/// in a queue. Repeats `leave()` after each failure, until it succeeds or nothing can be left. The
/// store may execute an earlier request after this `leave()`, but not after `place::settled_at()`.
/// So `leave()` is called once more at that time. The engine does this for all stores, so a store
/// need not repeat `leave()`. The function takes over the alarm of the call, because the waiter at
/// the store (`place`) may ring it.
void undo(acquisition&, owner_id, std::unique_ptr<place>);

/// Releases the hold once more at the time `settled_at`, after the server has replied that the hold
/// was released or did not exist. `asked_at` is the time at which the request with this reply was
/// sent. Until `settled_at`, the store may still execute an earlier request of the same owner,
/// which would take the lock again.
void release_when_settled(std::shared_ptr<held_lock>, time_point asked_at);

/// Releases a hold that has ended without a release, because the store may still have it. In a
/// store with sessions (ZooKeeper), only this release frees the lock when the lease ends. Other
/// stores end the lease themselves.
void release_remains(std::shared_ptr<held_lock>);

/// Releases a lost hold at the store once more. Call it when a renewal request ends after the loss
/// of its hold, because that request may have extended the lease after the first cleanup.
void release_late_remains(const std::shared_ptr<held_lock>&);

/// Releases once more the write holds that were linked to this read hold and are already released.
/// Call it when the server may have lost its last writes: the server may then have such a write
/// hold again, and would keep the write hold as long as the read hold is renewed. Each release is
/// repeated until the server has replied, at most for as long as the store keeps the read hold.
void release_writes_again(const std::shared_ptr<held_lock>& read);

} // namespace holdfast::sync
