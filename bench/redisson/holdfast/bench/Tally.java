// SPDX-License-Identifier: Apache-2.0
package holdfast.bench;

import java.util.List;

/** Result of one turn: the number of operations, and samples of some or all of them. */
record Tally(long done, long elapsed, List<Samples> samples) {
    /** Creates a result in which each operation has a sample. */
    Tally(long elapsed, List<Samples> samples) {
        this(samples.stream().mapToLong(Samples::count).sum(), elapsed, samples);
    }

    @Override
    public String toString() {
        StringBuilder line = new StringBuilder();
        line.append(done).append(' ').append(elapsed);
        samples.forEach(some -> some.appendTo(line));
        return line.toString();
    }
}
