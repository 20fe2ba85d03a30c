// SPDX-License-Identifier: Apache-2.0
package holdfast.bench;

import java.util.Arrays;

/** List of durations in nanoseconds, without an object for each. Not thread-safe. */
final class Samples {
    private long[] all = new long[1 << 12];
    private int count;

    void add(long nanoseconds) {
        if (count == all.length) {
            all = Arrays.copyOf(all, 2 * count);
        }
        all[count++] = nanoseconds;
    }

    int count() {
        return count;
    }

    void appendTo(StringBuilder line) {
        for (int i = 0; i < count; i++) {
            line.append(' ').append(all[i]);
        }
    }
}
