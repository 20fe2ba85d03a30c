// SPDX-License-Identifier: Apache-2.0
// A user's execution context may end while threads still hold something, and without having run
// what was posted to it.
#pragma once

#include "runtime/real_clock.hpp"
#include "sync/engine.hpp"

namespace holdfast::front {

/// Has `home` let go of its holds, and its own clock of who sleeps, when the context behind the
/// executor ends, while what was made on it can still be destroyed. Otherwise a thread that ends
/// later would reach into a dead context, and what sleeps would keep itself for ever.
void let_go_with_context(const std::shared_ptr<sync::engine>& home,
                         const std::shared_ptr<runtime::real_clock>& own = nullptr);

} // namespace holdfast::front
