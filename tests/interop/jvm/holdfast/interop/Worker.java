// SPDX-License-Identifier: Apache-2.0
package holdfast.interop;

import java.util.Random;

/** Takes a turn, on a name, both drawn at random, again and again. */
final class Worker implements Runnable {
    private final Command.Work work;
    private final History history;
    private final Random random;
    private final Turns ways;
    private volatile boolean stopped;
    private volatile Exception endedBy;
    private volatile long turns;

    Worker(Command.Work work, History history, Random random, Turns ways) {
        this.work = work;
        this.history = history;
        this.random = random;
        this.ways = ways;
    }

    void stop() {
        stopped = true;
    }

    long turns() throws Exception {
        if (endedBy != null) {
            throw endedBy;
        }
        return turns;
    }

    @Override
    public void run() {
        try {
            while (!stopped) {
                var turn = work.turns().get(random.nextInt(work.turns().size()));
                var name = work.names().get(random.nextInt(work.names().size()));
                ways.take(turn, name + turn.suffix());
                turns++;
                Thread.sleep(upTo(turn.pause(), random));
            }
        } catch (Throwable thrown) {
            var failure = thrown instanceof Exception known ? known : new Exception(thrown);
            history.failed(Calls.words(failure));
            endedBy = failure;
        }
    }

    /** A length of time that is drawn at random. */
    static long upTo(long most, Random random) {
        return most == 0 ? 0 : random.nextLong(most + 1);
    }
}
