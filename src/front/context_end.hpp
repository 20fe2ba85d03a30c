// SPDX-License-Identifier: Apache-2.0
// Handling of the end of a user's execution context. The context may end while threads still hold
// locks, and functions that were posted to it may never run.
#pragma once

#include "runtime/clock.hpp"
#include "sync/engine.hpp"

namespace holdfast::front {

/// Makes `home` drop its holds, and `own` drop its sleeping coroutines, when the context of the
/// executor ends, while objects on the context can still be destroyed. Otherwise a thread that ends
/// later would use a destroyed context, and sleeping coroutines would keep themselves alive for
/// ever.
void let_go_with_context(const std::shared_ptr<sync::engine>& home,
                         const std::shared_ptr<runtime::real_clock>& own = nullptr);

} // namespace holdfast::front
