// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace holdfast::bench {

/// Another process that wants the same lock, now and then or all the time, through a client of its
/// own. Takes turns as standard input says, and answers in the words of bench/redisson's Driver:
/// one line each, until its input ends. `url`: where the lock is.
void be_a_neighbour(const char* url);

} // namespace holdfast::bench
