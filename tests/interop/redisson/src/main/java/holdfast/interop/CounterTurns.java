// SPDX-License-Identifier: Apache-2.0
package holdfast.interop;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.NANOSECONDS;

import java.util.Random;
import org.redisson.api.RCountDownLatch;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RRateLimiter;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisException;

/** A worker's turns at what is counted. */
final class CounterTurns {
    private final RedissonClient client;
    private final History history;
    private final Random random;

    CounterTurns(RedissonClient client, History history, Random random) {
        this.client = client;
        this.history = history;
        this.random = random;
    }

    /** False: it is a turn at a lock. */
    boolean take(Command.Turn turn, String name) throws InterruptedException {
        switch (turn.object()) {
            case "getSemaphore" -> draw(turn, name);
            case "getPermitExpirableSemaphore" -> rent(turn, name);
            case "getRateLimiter" -> spend(turn, name);
            case "getCountDownLatch" -> meet(turn, name);
            default -> {
                return false;
            }
        }
        return true;
    }

    /** So many permits as the turn is deep. */
    @SuppressWarnings("deprecation") // 3.13.6 knows no other tryAcquire with a patience
    private void draw(Command.Turn turn, String name) throws InterruptedException {
        RSemaphore seats = client.getSemaphore(name);
        int permits = turn.depth();
        history.asksForPermits(name, permits);
        boolean drawn = turn.patience() == 0 ? seats.tryAcquire(permits)
                : seats.tryAcquire(permits, turn.patience(), MILLISECONDS);
        if (!drawn) {
            history.givesUp(name);
            return;
        }
        history.shares(name);
        Thread.sleep(Worker.upTo(turn.hold(), random));
        history.leaves(name);
        seats.release(permits);
        history.left(name, true);
    }

    /** One permit, under a lease. */
    private void rent(Command.Turn turn, String name) throws InterruptedException {
        RPermitExpirableSemaphore seats = client.getPermitExpirableSemaphore(name);
        history.asksForPermit(name, History.sureFor(turn.lease()));
        String seat = seats.tryAcquire(turn.patience(), turn.lease(), MILLISECONDS);
        if (seat == null) {
            history.givesUp(name);
            return;
        }
        history.shares(name);
        Thread.sleep(Worker.upTo(turn.hold(), random));
        history.leaves(name);
        history.left(name, seats.tryRelease(seat));
    }

    /** Nobody gives back what was drawn from a rate limiter. */
    @SuppressWarnings("deprecation") // as above
    private void spend(Command.Turn turn, String name) {
        RRateLimiter limiter = client.getRateLimiter(name);
        int permits = turn.depth();
        history.draws(name, permits);
        try {
            boolean drawn = turn.patience() == 0 ? limiter.tryAcquire(permits)
                    : limiter.tryAcquire(permits, turn.patience(), MILLISECONDS);
            if (drawn) {
                history.drew(name);
            } else {
                history.givesUp(name);
            }
        } catch (RedisException failure) {
            // One of before 3.16.2 looks for draws up to the time at which it asked, and its script
            // fails where it finds none. Whether it may is seen by the name.
            if (!String.valueOf(failure.getMessage()).contains("to 'unpack'")) {
                throw failure;
            }
            history.overtaken(name);
        }
    }

    /** Whoever comes sets it if it is open, counts it down and waits for the others. */
    private void meet(Command.Turn turn, String name) throws InterruptedException {
        RCountDownLatch latch = client.getCountDownLatch(name);
        if (!rests(turn.rest())) {
            history.sets(name, turn.depth());
            if (latch.trySetCount(turn.depth())) {
                history.set(name);
            } else {
                history.givesUp(name);
            }
        }
        history.countsDown(name);
        latch.countDown();
        history.countedDown(name);
        history.waits(name);
        if (latch.await(turn.patience(), MILLISECONDS)) {
            history.passed(name);
        } else {
            history.givesUp(name);
        }
    }

    /**
     * All processes share this clock, so nobody sets a latch while it rests: it stays open for a
     * while, and whoever still waits then was forgotten.
     */
    private static boolean rests(long stretch) {
        return stretch > 0 && NANOSECONDS.toMillis(System.nanoTime()) / stretch % 2 == 1;
    }
}
