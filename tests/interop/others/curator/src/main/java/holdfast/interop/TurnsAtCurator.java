// SPDX-License-Identifier: Apache-2.0
package holdfast.interop;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import java.util.Random;

/** Turns at Curator's mutexes, read-write locks and semaphores. Sessions hold them. */
final class TurnsAtCurator implements Turns {
    private static final long RENEWED = 0;

    private final LocksOfCurator client;
    private final History history;
    private final Random random;

    TurnsAtCurator(LocksOfCurator client, History history, Random random) {
        this.client = client;
        this.history = history;
        this.random = random;
    }

    @Override
    public void take(Command.Turn turn, String name) throws Throwable {
        if (turn.object().equals("getPermitExpirableSemaphore")) {
            rent(turn, name);
        } else if (turn.object().endsWith("readLock")) {
            read(turn, name);
        } else {
            lock(turn, name);
        }
    }

    private void lock(Command.Turn turn, String name) throws Throwable {
        LockOfCurator lock = turn.object().endsWith("writeLock")
                ? client.getReadWriteLock(name).writeLock() : client.getLock(name);
        if (!acquired(lock, turn, name)) {
            return;
        }
        history.holds(name);
        rest(turn);
        LockOfCurator last = lock;
        if (turn.downgrade()) {
            last = client.getReadWriteLock(name).readLock();
            last.lock();
            history.shares(name);
            lock.unlock();
            rest(turn);
        }
        leave(last, turn, name);
    }

    private void read(Command.Turn turn, String name) throws Throwable {
        LockOfCurator lock = client.getReadWriteLock(name).readLock();
        if (!acquired(lock, turn, name)) {
            return;
        }
        history.shares(name);
        rest(turn);
        leave(lock, turn, name);
    }

    /** All entries but the first, which {@code leave} gives back. */
    private boolean acquired(LockOfCurator lock, Command.Turn turn, String name) throws Exception {
        history.asks(name, RENEWED);
        boolean taken = true;
        if (turn.patience() < 0) {
            lock.lock();
        } else {
            taken = lock.tryLock(turn.patience(), MILLISECONDS);
        }
        if (!taken) {
            history.givesUp(name);
        }
        for (int entry = 1; taken && entry < turn.depth(); entry++) {
            lock.lock();
        }
        return taken;
    }

    private void leave(LockOfCurator lock, Command.Turn turn, String name) throws Exception {
        for (int entry = 1; entry < turn.depth(); entry++) {
            lock.unlock();
        }
        history.leaves(name);
        lock.unlock();
        history.left(name, true);
    }

    private void rent(Command.Turn turn, String name) throws Exception {
        PermitsOfCurator seats = client.getPermitExpirableSemaphore(name);
        history.asksForPermit(name, RENEWED);
        String seat = turn.patience() < 0 ? seats.acquire()
                : seats.tryAcquire(turn.patience(), MILLISECONDS);
        if (seat == null) {
            history.givesUp(name);
            return;
        }
        history.shares(name);
        rest(turn);
        history.leaves(name);
        history.left(name, seats.tryRelease(seat));
    }

    private void rest(Command.Turn turn) throws InterruptedException {
        Thread.sleep(Worker.upTo(turn.hold(), random));
    }
}
