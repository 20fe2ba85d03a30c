// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace holdfast::bench {

/// Runs as another process that wants the same lock, sometimes or all the time. It has its own
/// client. It reads the turns from stdin until stdin ends, and writes one line for each turn. The
/// format is that of bench/redisson's Driver. `url` is the server of the lock.
void be_a_neighbour(const char* url);

} // namespace holdfast::bench
