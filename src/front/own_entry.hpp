// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sync/engine.hpp"
#include "sync/subject.hpp"

namespace holdfast::front {

/// Returns this thread's entry for that lock: its hold and how often it entered.
inline sync::thread_table::entry own_entry(const sync::subject& lock) {
    return lock.home->threads()->find(lock.entry(), lock.way());
}

} // namespace holdfast::front
