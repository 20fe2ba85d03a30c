// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace holdfast::bench {

/// Acts as another process that wants the same lock, now and then or all the time, through its own
/// client. Reads the turns from stdin and writes one line for each, in the format of
/// bench/redisson's Driver, until stdin ends. `url` is the server of the lock.
void be_a_neighbour(const char* url);

} // namespace holdfast::bench
