// SPDX-License-Identifier: Apache-2.0
package holdfast.interop;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;

/** A thread with a name that lives as long as the process: locks belong to threads. */
final class Actor {
    private static final Set<Thread.State> SLEEPING =
            EnumSet.of(Thread.State.WAITING, Thread.State.TIMED_WAITING);

    private final BlockingQueue<Runnable> tasks = new LinkedBlockingQueue<>();
    private final Thread thread;

    Actor(String name) {
        thread = new Thread(this::play, name);
        thread.setDaemon(true);
        thread.start();
    }

    void run(Runnable task) {
        tasks.add(task);
    }

    /** The number behind the client's id in what Redisson writes as the owner. */
    @SuppressWarnings("deprecation") // threadId() came with JDK 19
    long id() {
        return thread.getId();
    }

    /**
     * Whether it sleeps until a lock is released: all versions do that on a semaphore. Redisson
     * promises that an interrupt does no harm there, but not while it waits for an answer; and
     * READ_UNLOCK_MESSAGE wakes only those who are in the semaphore's queue by then: who has called
     * it, and does not sleep yet, misses that message.
     */
    boolean isAsleep() {
        boolean isAtSemaphore =
                Arrays.stream(thread.getStackTrace())
                        .anyMatch(frame -> frame.getClassName().equals(Semaphore.class.getName()));
        return isAtSemaphore && SLEEPING.contains(thread.getState());
    }

    boolean interrupt() {
        thread.interrupt();
        return true;
    }

    private void play() {
        while (true) {
            try {
                Runnable task = tasks.take();
                task.run();
            } catch (InterruptedException none) {
                // It was meant for a call that had just ended.
            }
        }
    }
}
