// SPDX-License-Identifier: Apache-2.0
package holdfast.interop;

import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;

/** A mutex, or one side of a read-write lock, under the names of an RLock's methods. */
public final class LockOfCurator {
    private final CuratorFramework client;
    private final String path;
    private final InterProcessMutex lock;
    private final ThreadLocal<Integer> entries = ThreadLocal.withInitial(() -> 0);

    LockOfCurator(CuratorFramework client, String path, InterProcessMutex lock) {
        this.client = client;
        this.path = path;
        this.lock = lock;
    }

    public void lock() throws Exception {
        lock.acquire();
        count(1);
    }

    public void lockInterruptibly() throws Exception {
        lock();
    }

    public boolean tryLock() throws Exception {
        return tryLock(0, TimeUnit.MILLISECONDS);
    }

    public boolean tryLock(long patience, TimeUnit unit) throws Exception {
        boolean taken = lock.acquire(patience, unit);
        count(taken ? 1 : 0);
        return taken;
    }

    /** IllegalMonitorStateException: it is not this thread's. */
    public void unlock() throws Exception {
        lock.release();
        count(-1);
    }

    /** Which Curator believes, whatever has become of its node. */
    public boolean isHeldByCurrentThread() {
        return lock.isOwnedByCurrentThread();
    }

    public int getHoldCount() {
        return entries.get();
    }

    /** Whether anybody holds it or waits for it: Curator has no other way to ask. */
    public boolean isLocked() throws Exception {
        return !lock.getParticipantNodes().isEmpty();
    }

    /** What somebody left in that node, for people. */
    public String nodeData(String node) throws Exception {
        return new String(client.getData().forPath(path + "/" + node));
    }

    private void count(int more) {
        entries.set(entries.get() + more);
    }
}
