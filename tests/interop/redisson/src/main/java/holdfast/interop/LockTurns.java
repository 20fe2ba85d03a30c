// SPDX-License-Identifier: Apache-2.0
package holdfast.interop;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeoutException;
import org.redisson.api.RFuture;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisException;

/** Turns at all of Redisson's locks and counters. */
final class LockTurns implements Turns {
    private static final long PAUSE = 100;

    private final RedissonClient client;
    private final Command.Work work;
    private final History history;
    private final Random random;
    private final CounterTurns counters;

    LockTurns(RedissonClient client, Command.Work work, History history, Random random) {
        this.client = client;
        this.work = work;
        this.history = history;
        this.random = random;
        this.counters = new CounterTurns(client, history, random);
    }

    @Override
    public void take(Command.Turn turn, String name) throws Throwable {
        if (!counters.take(turn, name)) {
            takeLock(turn, name);
        }
    }

    private void takeLock(Command.Turn turn, String name) throws Throwable {
        // A lock object remembers the lease it was last given and uses it for calls without one
        // (redisson-protocol.md §3.2), so each turn has an object of its own.
        RLock lock = (RLock) Calls.object(client, turn.object(), name);
        history.asks(name, History.sureFor(turn.lease()));
        if (!acquiredOrFailed(lock, turn)) {
            history.givesUp(name);
            return;
        }
        if (turn.object().endsWith("readLock")) {
            history.shares(name);
        } else {
            history.holds(name);
        }
        if (turn.object().equals("getFencedLock")) {
            history.token(name, (Long) Calls.call(lock, "getToken", List.of()));
        }
        for (int entry = 1; entry < turn.depth(); entry++) {
            enter(lock, turn.lease());
        }
        Thread.sleep(upTo(turn.hold()));
        for (int entry = 1; entry < turn.depth(); entry++) {
            lock.unlock();
        }
        if (turn.downgrade()) {
            lock = goOnReading(lock, name);
            Thread.sleep(upTo(turn.hold()));
        }
        history.leaves(name);
        history.left(name, work.goesOn() ? releasedInTheEnd(lock) : released(lock));
    }

    /** Without letting anybody else write between. */
    private RLock goOnReading(RLock write, String name) {
        RLock read = client.getReadWriteLock(name).readLock();
        read.lock();
        history.shares(name);
        write.unlock();
        return read;
    }

    /** What failed, or was denied behind a failure, may have been carried out: nothing is left. */
    private boolean acquiredOrFailed(RLock lock, Command.Turn turn) throws Exception {
        if (!work.goesOn()) {
            return acquired(lock, turn);
        }
        try {
            if (acquired(lock, turn)) {
                return true;
            }
        } catch (RedisException failure) {
            // so it is not known
        }
        releasedInTheEnd(lock);
        return false;
    }

    private static boolean acquired(RLock lock, Command.Turn turn) throws Exception {
        if (turn.cancel() >= 0) {
            return acquiredUnlessCancelled(lock, turn);
        }
        if (turn.patience() < 0) {
            enter(lock, turn.lease());
            return true;
        }
        if (turn.lease() > 0) {
            return lock.tryLock(turn.patience(), turn.lease(), MILLISECONDS);
        }
        return turn.patience() == 0 ? lock.tryLock() : lock.tryLock(turn.patience(), MILLISECONDS);
    }

    private static void enter(RLock lock, long lease) {
        if (lease > 0) {
            lock.lock(lease, MILLISECONDS);
        } else {
            lock.lock();
        }
    }

    private static boolean acquiredUnlessCancelled(RLock lock, Command.Turn turn) throws Exception {
        RFuture<Void> granted =
                turn.lease() > 0 ? lock.lockAsync(turn.lease(), MILLISECONDS) : lock.lockAsync();
        try {
            granted.get(turn.cancel(), MILLISECONDS);
            return true;
        } catch (TimeoutException late) {
            return !granted.cancel(true); // too late to cancel: it was granted meanwhile
        }
    }

    /** False: it was not ours any more. */
    private static boolean released(RLock lock) {
        try {
            lock.unlock();
            return true;
        } catch (IllegalMonitorStateException notOurs) {
            return false;
        }
    }

    /**
     * However often that fails, and as often as it is held: what was not answered by one server is
     * repeated at the next, and may have been carried out twice (redisson-protocol.md §1.10). Who
     * asks a second time does not learn whether it was still ours.
     */
    private static boolean releasedInTheEnd(RLock lock) throws InterruptedException {
        for (boolean again = false; ; again = true) {
            try {
                boolean wasOurs = released(lock);
                if (!lock.isHeldByCurrentThread()) {
                    return wasOurs || again;
                }
            } catch (RedisException failure) {
                Thread.sleep(PAUSE);
            }
        }
    }

    private long upTo(long most) {
        return Worker.upTo(most, random);
    }
}
