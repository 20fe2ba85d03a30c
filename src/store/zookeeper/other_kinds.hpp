// SPDX-License-Identifier: Apache-2.0
// Finds out which kind of lock has a path, from the names of its children. Pure functions.
#pragma once

#include <holdfast/store.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace holdfast::zookeeper {

/// Returns, in words, what has the path instead of a lock of the wanted kind. Only the holder
/// counts, so that no waiter is refused because of a node that is about to be deleted. `mine` is
/// the caller's own node. Null: no other kind has the path.
const char* other_kind_than(lock_kind wanted, const std::vector<std::string>& children,
                            std::string_view mine = {});

/// Returns, in words, the lock that has the path of a semaphore. Null: no lock has it.
const char* lock_in_words(const std::vector<std::string>& children);

/// Returns whether a leased semaphore has the path. holdfast's and Curator's semaphores have two
/// folders there.
bool is_semaphore(const std::vector<std::string>& children);

} // namespace holdfast::zookeeper
