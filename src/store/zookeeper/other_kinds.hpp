// SPDX-License-Identifier: Apache-2.0
// Finds out which kind of lock has a path, from the names of its children. Pure functions.
#pragma once

#include <holdfast/store.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace holdfast::zookeeper {

/// Returns the other kind that uses the path, in words. Only the holder's node counts: a waiter
/// must not be refused because of a node that will soon be deleted. `mine` is the caller's own
/// node. Null: no other kind uses the path.
const char* other_kind_than(lock_kind wanted, const std::vector<std::string>& children,
                            std::string_view mine = {});

/// Returns in words the lock that uses the path of a semaphore. Null: no lock uses it.
const char* lock_in_words(const std::vector<std::string>& children);

/// Returns whether a leased semaphore uses the path. Semaphores of holdfast and Curator have two
/// folders below their path.
bool is_semaphore(const std::vector<std::string>& children);

} // namespace holdfast::zookeeper
