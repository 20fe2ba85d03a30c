// SPDX-License-Identifier: Apache-2.0
package holdfast.bench;

import org.redisson.api.RLock;
import org.redisson.api.RReadWriteLock;
import org.redisson.api.RedissonClient;

/** Threads that use one read-write lock: one thread writes a value, the other threads read it. */
final class Sharers {
    private final RReadWriteLock lock;
    private volatile boolean isWritten; // volatile keeps the writes; the lock guards it

    Sharers(RedissonClient client) {
        lock = client.getReadWriteLock(Driver.nameOfLock(0));
    }

    /** Runs a turn. Counts the pairs of all threads. The samples are the waits of the writer. */
    Tally share(int threads, long length) throws Exception {
        Tally all = Threads.together(threads, length, i -> i == 0 ? this::write : this::read);
        return new Tally(all.done(), all.elapsed(), all.samples().subList(0, 1));
    }

    private long write() {
        RLock own = lock.writeLock();
        long began = System.nanoTime();
        own.lock();
        long waited = System.nanoTime() - began;
        isWritten = true;
        isWritten = false;
        own.unlock();
        return waited;
    }

    private long read() {
        RLock own = lock.readLock();
        long began = System.nanoTime();
        own.lock();
        if (isWritten) {
            throw new IllegalStateException("a reader was inside beside the writer");
        }
        own.unlock();
        return System.nanoTime() - began;
    }
}
