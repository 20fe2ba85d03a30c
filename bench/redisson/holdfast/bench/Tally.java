// SPDX-License-Identifier: Apache-2.0
package holdfast.bench;

import java.util.List;

/** What one turn did: how often what is counted was done, and samples of some of it. */
record Tally(long done, long elapsed, List<Samples> samples) {
    /** Of all of it. */
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
