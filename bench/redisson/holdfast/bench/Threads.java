// SPDX-License-Identifier: Apache-2.0
package holdfast.bench;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.redisson.api.RLock;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RRateLimiter;
import org.redisson.api.RSemaphore;
import org.redisson.api.RateType;
import org.redisson.api.RedissonClient;

/** Turns with blocking calls on several threads. */
final class Threads {
    /** Threads that live for the whole run, so that no turn measures the start of a thread. */
    static final ExecutorService POOL = Executors.newCachedThreadPool(work -> {
        var thread = new Thread(work);
        thread.setDaemon(true);
        return thread;
    });

    private Threads() {}

    static Tally onLocksOfTheirOwn(RedissonClient client, int threads, long length)
            throws Exception {
        return together(threads, length, i -> {
            RLock lock = client.getLock(Driver.nameOfLock(i));
            return () -> {
                long began = System.nanoTime();
                lock.lock();
                lock.unlock();
                return System.nanoTime() - began;
            };
        });
    }

    /** Runs a turn on several servers. Each thread has its own RedLock over all servers. */
    static Tally onMajorities(List<RedissonClient> nodes, int threads, long length)
            throws Exception {
        return together(threads, length, i -> {
            RLock[] parts = nodes.stream().map(node -> node.getLock(Driver.nameOfLock(i)))
                    .toArray(RLock[]::new);
            @SuppressWarnings("deprecation") // Redisson advises against the algorithm
            RLock lock = nodes.get(0).getRedLock(parts);
            return () -> {
                long began = System.nanoTime();
                lock.lock();
                lock.unlock();
                return System.nanoTime() - began;
            };
        });
    }

    /**
     * Measures how long each thread waits for one lock. Fails if two threads hold the lock at the
     * same time.
     */
    static Tally onOneLock(RedissonClient client, int threads, long length) throws Exception {
        RLock lock = client.getLock(Driver.nameOfLock(0));
        long[] entered = {0}; // guarded only by the measured lock
        Tally tally = together(threads, length, i -> () -> {
            long began = System.nanoTime();
            lock.lock();
            long waited = System.nanoTime() - began;
            entered[0]++;
            lock.unlock();
            return waited;
        });
        if (entered[0] != tally.done()) {
            throw new IllegalStateException("two threads were inside one lock at the same time");
        }
        return tally;
    }

    /** Measures how long each thread waits for a permit. Fails if too many threads have one. */
    static Tally onOneSemaphore(RedissonClient client, int permits, int threads, long length)
            throws Exception {
        RSemaphore seats = client.getSemaphore(Driver.nameOfLock(0));
        seats.trySetPermits(permits);
        var inside = new AtomicInteger();
        try {
            return together(threads, length, i -> () -> {
                long began = System.nanoTime();
                acquire(seats);
                long waited = System.nanoTime() - began;
                if (inside.incrementAndGet() > permits) {
                    throw new IllegalStateException("more were inside than there are permits");
                }
                inside.decrementAndGet();
                seats.release();
                return waited;
            });
        } finally {
            seats.delete();
        }
    }

    private static void acquire(RSemaphore seats) {
        try {
            seats.acquire();
        } catch (InterruptedException nobodyInterrupts) {
            throw new IllegalStateException(nobodyInterrupts);
        }
    }

    /**
     * Measures how long each thread waits for a leased permit. The lease is long, because no code
     * renews it.
     */
    static Tally onLeasedPermits(RedissonClient client, int permits, int threads, long length)
            throws Exception {
        RPermitExpirableSemaphore seats = client.getPermitExpirableSemaphore(Driver.nameOfLock(0));
        seats.trySetPermits(permits);
        var inside = new AtomicInteger();
        try {
            return together(threads, length, i -> () -> {
                long began = System.nanoTime();
                String permit = acquire(seats);
                long waited = System.nanoTime() - began;
                if (inside.incrementAndGet() > permits) {
                    throw new IllegalStateException("more were inside than there are permits");
                }
                inside.decrementAndGet();
                seats.release(permit);
                return waited;
            });
        } finally {
            seats.delete();
        }
    }

    private static String acquire(RPermitExpirableSemaphore seats) {
        try {
            return seats.acquire(30, TimeUnit.SECONDS);
        } catch (InterruptedException nobodyInterrupts) {
            throw new IllegalStateException(nobodyInterrupts);
        }
    }

    /** Measures how long each thread waits for a permit of the rate limiter. */
    static Tally onOneRate(RedissonClient client, int rate, int threads, long length)
            throws Exception {
        RRateLimiter limiter = client.getRateLimiter(Driver.nameOfLock(0));
        limiter.trySetRate(RateType.OVERALL, rate, Duration.ofMillis(100));
        try {
            return together(threads, length, i -> () -> {
                long began = System.nanoTime();
                limiter.acquire();
                return System.nanoTime() - began;
            });
        } finally {
            limiter.delete();
        }
    }

    /** Measures a fair lock. Each thread has its own client, and waits in the server's queue. */
    static Tally inOneQueue(List<RedissonClient> clients, long length) throws Exception {
        return together(clients.size(), length, i -> {
            RLock lock = clients.get(i).getFairLock(Driver.nameOfLock(0));
            return () -> {
                long began = System.nanoTime();
                lock.lock();
                long waited = System.nanoTime() - began;
                lock.unlock();
                return waited;
            };
        });
    }

    /**
     * Takes a lock that another process uses all the time, on one thread. Pauses for one to ten
     * milliseconds before each call, so that the call comes at a random moment. See
     * bench/contenders/other_programs.cpp.
     */
    static Tally onOneLockNowAndThen(RedissonClient client, long length) throws Exception {
        RLock lock = client.getLock(Driver.nameOfLock(0));
        var waits = new Samples();
        long began = System.nanoTime();
        do {
            Thread.sleep(1 + 7L * waits.count() % 10);
            long asked = System.nanoTime();
            lock.lock();
            waits.add(System.nanoTime() - asked);
            lock.unlock();
        } while (System.nanoTime() - began < length);
        return new Tally(System.nanoTime() - began, List.of(waits));
    }

    /** Measures re-entry: a thread that holds the lock takes it again. */
    static Tally insideOneLock(RedissonClient client, long length) throws Exception {
        RLock lock = client.getLock(Driver.nameOfLock(0));
        lock.lock();
        try {
            var samples = new Samples();
            long began = System.nanoTime();
            repeat(began + length, samples, () -> {
                long before = System.nanoTime();
                lock.lock();
                lock.unlock();
                return System.nanoTime() - before;
            });
            return new Tally(System.nanoTime() - began, List.of(samples));
        } finally {
            lock.unlock();
        }
    }

    /** Creates the operation that a thread repeats. The operation returns its sample. */
    interface Role {
        LongSupplier of(int thread);
    }

    static Tally together(int threads, long length, Role role) throws Exception {
        var ready = new CountDownLatch(threads);
        var start = new CountDownLatch(1);
        List<Samples> samples = new ArrayList<>();
        List<Future<?>> running = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            var own = new Samples();
            samples.add(own);
            LongSupplier once = role.of(i);
            Callable<Void> work = () -> {
                ready.countDown();
                start.await();
                repeat(System.nanoTime() + length, own, once);
                return null;
            };
            running.add(POOL.submit(work));
        }
        ready.await();
        long began = System.nanoTime();
        start.countDown();
        for (Future<?> one : running) {
            one.get();
        }
        return new Tally(System.nanoTime() - began, samples);
    }

    private static void repeat(long end, Samples samples, LongSupplier once) {
        while (System.nanoTime() - end < 0) {
            samples.add(once.getAsLong());
        }
    }
}
