// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sync/acquisition.hpp"

#include <memory>

namespace holdfast::sync {

/// Sees to it, in the background, that an attempt that nobody wants any more has nothing in the
/// store, neither a hold nor a place in a queue: `leave()` is repeated until it succeeds, whatever
/// it fails with, or until nothing can be left. A look that was not answered may still be carried
/// out after the leaving that overtook it, but not after `place::settled_at()`: so it is left once
/// more then, and only then is the owner's number forgotten. Takes the call's alarm, which the
/// place may ring.
void undo(acquisition&, owner_id, std::unique_ptr<place>);

/// The same for a hold that the store was told to release, or said is gone, in answer to a request
/// sent at `asked_at`: only an earlier request that may still be carried out is left to care for.
void release_when_settled(std::shared_ptr<wire_hold>, time_point asked_at);

/// The same for a hold that has ended otherwise: releases what the store may still have of it.
void release_remains(std::shared_ptr<wire_hold>);

/// The same once more if it is lost by now, for a renewal that was given up or answered only after
/// that: what released the remains counted on a shorter lease.
void release_late_remains(const std::shared_ptr<wire_hold>&);

/// Releases once more the write holds that stood with this read hold and were released. Call it
/// when the server may have forgotten its last writes: it has such a write hold again then, and
/// keeps it as long as the read hold is renewed. Each release is repeated until the server has
/// answered, at most for as long as the store keeps the read hold.
void release_writes_again(const std::shared_ptr<wire_hold>& read);

} // namespace holdfast::sync
