// SPDX-License-Identifier: Apache-2.0
package holdfast.bench;

import java.util.List;

/** What one turn did: a sample for each time that what is counted was done. */
record Tally(long elapsed, List<Samples> samples) {
    long done() {
        return samples.stream().mapToLong(Samples::count).sum();
    }

    @Override
    public String toString() {
        StringBuilder line = new StringBuilder();
        line.append(done()).append(' ').append(elapsed);
        samples.forEach(some -> some.appendTo(line));
        return line.toString();
    }
}
