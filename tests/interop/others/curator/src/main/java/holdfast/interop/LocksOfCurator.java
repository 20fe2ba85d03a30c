// SPDX-License-Identifier: Apache-2.0
package holdfast.interop;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.shared.SharedCount;
import org.apache.curator.retry.ExponentialBackoffRetry;

/**
 * One client, with its recipes under the names of Redisson's getters. The same object each time: a
 * writer reads beside its own hold only if it has both sides of one object.
 */
public final class LocksOfCurator {
    private static final int CONNECT_MS = 5_000;

    private final CuratorFramework client;
    private final String root;
    private final int permits;
    private final Map<String, LockOfCurator> mutexes = new ConcurrentHashMap<>();
    private final Map<String, Sides> readWriteLocks = new ConcurrentHashMap<>();
    private final Map<String, PermitsOfCurator> semaphores = new ConcurrentHashMap<>();

    /** {@code permits}: of each semaphore, which is each client's own number; 0: as the nodes say. */
    LocksOfCurator(String address, int sessionMs, String root, int permits) throws Exception {
        this.root = root;
        this.permits = permits;
        client = CuratorFrameworkFactory.newClient(address, sessionMs, CONNECT_MS,
                new ExponentialBackoffRetry(100, 5));
        client.start();
        if (!client.blockUntilConnected(CONNECT_MS, TimeUnit.MILLISECONDS)) {
            throw new IllegalStateException("no connection to " + address);
        }
    }

    /** As its jar is named. */
    static String version() {
        var jar = InterProcessMutex.class.getProtectionDomain().getCodeSource().getLocation();
        return jar.getPath().replaceFirst("^.*curator-recipes-(.*)\\.jar$", "$1");
    }

    public LockOfCurator getLock(String name) {
        return mutexes.computeIfAbsent(root + "/" + name,
                path -> new LockOfCurator(client, path, new InterProcessMutex(client, path)));
    }

    public Sides getReadWriteLock(String name) {
        return readWriteLocks.computeIfAbsent(root + "/" + name, path -> {
            var lock = new InterProcessReadWriteLock(client, path);
            return new Sides(new LockOfCurator(client, path, lock.readLock()),
                    new LockOfCurator(client, path, lock.writeLock()));
        });
    }

    public record Sides(LockOfCurator readLock, LockOfCurator writeLock) {}

    public PermitsOfCurator getPermitExpirableSemaphore(String name) {
        return semaphores.computeIfAbsent(root + "/" + name,
                path -> new PermitsOfCurator(permits > 0
                        ? new InterProcessSemaphoreV2(client, path, permits)
                        : new InterProcessSemaphoreV2(client, path, countAt(path))));
    }

    /** Whoever is the first to use that path says how many there are: they must be there. */
    private SharedCount countAt(String path) {
        var count = new SharedCount(client, path, 0);
        try {
            count.start();
        } catch (Exception failure) {
            throw new IllegalStateException(failure);
        }
        return count;
    }

    void close() {
        client.close();
    }
}
