// SPDX-License-Identifier: Apache-2.0
// A user's execution context may end while threads still hold something, and without having run
// what was posted to it.
#pragma once

#include "sync/engine.hpp"

namespace holdfast::front {

/// Has `home` let go of its holds when the context behind its executor ends, while what was made on
/// it can still be destroyed. Otherwise a thread that ends later would reach into a dead context.
void let_go_with_context(const std::shared_ptr<sync::engine>& home);

} // namespace holdfast::front
