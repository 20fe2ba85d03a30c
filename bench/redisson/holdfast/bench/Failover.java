// SPDX-License-Identifier: Apache-2.0
package holdfast.bench;

import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisException;

/**
 * Two callers in a failover. The first caller asks for a free lock when a primary fails. The second
 * caller waits meanwhile for a held lock. Each caller has its own client, and repeats a failed
 * call. The samples are the times of the two grants, by the clock of the machine.
 */
final class Failover {
    private static final long WAITS_AT_MOST_SECONDS = 45; // the same as on the holdfast side
    private static final long BETWEEN_CALLS_MS = 10;

    private final RedissonClient asker;
    private final RedissonClient waiter;
    private final String free;
    private final Future<Long> held;

    /** Takes and releases the free lock once. Then begins to wait for the held lock. */
    Failover(Clients.Making clients, String free, String held) {
        this.free = free;
        asker = clients.make();
        waiter = clients.make();
        RLock once = asker.getLock(free);
        once.lock();
        once.unlock();
        this.held = Threads.POOL.submit(() -> taken(waiter.getLock(held)));
    }

    /** Asks for the free lock now. Returns when both locks are granted, or after a timeout. */
    Tally finish() throws Exception {
        Future<Long> asked = Threads.POOL.submit(() -> taken(asker.getLock(free)));
        long limit = System.nanoTime() + TimeUnit.SECONDS.toNanos(WAITS_AT_MOST_SECONDS);
        var moments = new Samples();
        moments.add(outcome(asked, limit));
        moments.add(outcome(held, limit));
        asker.shutdown();
        waiter.shutdown();
        return new Tally(0, List.of(moments));
    }

    private static long outcome(Future<Long> of, long limit) throws Exception {
        try {
            return of.get(Math.max(limit - System.nanoTime(), 0), TimeUnit.NANOSECONDS);
        } catch (TimeoutException tooLong) {
            of.cancel(true);
            return limit;
        } catch (ExecutionException failure) {
            throw new IllegalStateException(failure.getCause());
        }
    }

    private static long taken(RLock lock) throws InterruptedException {
        while (true) {
            try {
                lock.lock();
                long granted = System.nanoTime();
                lock.unlock();
                return granted;
            } catch (RedisException | IllegalMonitorStateException failure) {
                Thread.sleep(BETWEEN_CALLS_MS);
            }
        }
    }
}
