// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sync/acquisition.hpp"

#include <memory>

namespace holdfast::sync {

/// Sees to it, in the background, that an attempt that nobody wants any more holds nothing. A look
/// that was not answered may still be carried out after the release that overtook it, but not after
/// `place::settled_at()`: so the release is sent once more then, and only then is the owner's
/// number forgotten.
void undo(std::shared_ptr<acquisition>, std::unique_ptr<place>, hold);

/// The same for a hold that has ended: releases what may be left of it in the store now, if its
/// end was not the store's own word, and once more if an earlier request may still be carried out.
void release_remains(std::shared_ptr<wire_hold>, bool store_said_so);

} // namespace holdfast::sync
