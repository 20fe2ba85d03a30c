// SPDX-License-Identifier: Apache-2.0
// The end of a user's execution context. It may come while threads still hold locks, and posted
// functions may never run.
#pragma once

#include "runtime/clock.hpp"
#include "sync/engine.hpp"

namespace holdfast::front {

/// Makes `home` drop its holds, and `own` its sleepers, when the context behind the executor ends.
/// That happens while objects on the context can still be destroyed. Otherwise a thread that ends
/// later would use a dead context, and sleeping coroutines would keep themselves alive for ever.
void let_go_with_context(const std::shared_ptr<sync::engine>& home,
                         const std::shared_ptr<runtime::real_clock>& own = nullptr);

} // namespace holdfast::front
