// SPDX-License-Identifier: Apache-2.0
// Which kind has a path, by the names of its children. Pure.
#pragma once

#include <holdfast/store.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace holdfast::zookeeper {

/// Returns in words what has the path instead of a lock of the wanted kind. The holder decides, so
/// that no waiter is refused because of a node that is about to go. `mine` is the asker's own node.
/// Null: the lock may be waited for.
const char* other_kind_than(lock_kind wanted, const std::vector<std::string>& children,
                            std::string_view mine = {});

/// Returns in words the lock that has the path of a semaphore. Null: there is none.
const char* lock_in_words(const std::vector<std::string>& children);

/// Whether a leased semaphore has the path: holdfast's and Curator's have two folders there.
bool is_semaphore(const std::vector<std::string>& children);

} // namespace holdfast::zookeeper
