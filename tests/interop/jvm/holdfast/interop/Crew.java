// SPDX-License-Identifier: Apache-2.0
package holdfast.interop;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/** Threads that work until they are stopped, each with its history in a file of its own. */
final class Crew {
    private static final long FAR_TOO_LONG = TimeUnit.SECONDS.toMillis(30);

    /** Each worker has turns of its own. */
    interface TurnMaker {
        Turns turns(History history, Random random);
    }

    private final List<Worker> workers = new ArrayList<>();
    private final List<Thread> threads = new ArrayList<>();

    Crew(Command.Work work, TurnMaker maker) throws IOException {
        for (int i = 0; i < work.threads(); i++) {
            var history = new History(work.history() + "." + i);
            var random = new Random(work.seed() + i);
            workers.add(new Worker(work, history, random, maker.turns(history, random)));
        }
        for (Worker worker : workers) {
            var thread = new Thread(worker, "worker");
            thread.start();
            threads.add(thread);
        }
    }

    /** How many turns were taken. Throws what ended a worker before its time. */
    long stop() throws Exception {
        workers.forEach(Worker::stop);
        long turns = 0;
        for (int i = 0; i < threads.size(); i++) {
            threads.get(i).join(FAR_TOO_LONG);
            if (threads.get(i).isAlive()) {
                throw new IllegalStateException("a worker does not end");
            }
            turns += workers.get(i).turns();
        }
        return turns;
    }
}
