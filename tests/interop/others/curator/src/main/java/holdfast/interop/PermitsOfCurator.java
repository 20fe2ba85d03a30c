// SPDX-License-Identifier: Apache-2.0
package holdfast.interop;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;

/** A semaphore, under the names of an RPermitExpirableSemaphore's methods. A permit is a node's name. */
public final class PermitsOfCurator {
    private final InterProcessSemaphoreV2 all;
    private final Map<String, Lease> held = new ConcurrentHashMap<>();

    PermitsOfCurator(InterProcessSemaphoreV2 all) {
        this.all = all;
    }

    public String acquire() throws Exception {
        return kept(all.acquire());
    }

    public List<String> acquire(int permits) throws Exception {
        return kept(all.acquire(permits));
    }

    public String tryAcquire() throws Exception {
        return tryAcquire(0, TimeUnit.MILLISECONDS);
    }

    /** Null: not in time. */
    public String tryAcquire(long patience, TimeUnit unit) throws Exception {
        Lease taken = all.acquire(patience, unit);
        return taken == null ? null : kept(taken);
    }

    /** Empty: not all of them in time. */
    public List<String> tryAcquire(int permits, long patience, TimeUnit unit) throws Exception {
        Collection<Lease> taken = all.acquire(permits, patience, unit);
        return taken == null ? List.of() : kept(taken);
    }

    /** False: it is none of this object's. */
    public boolean tryRelease(String permit) {
        Lease taken = held.remove(permit);
        if (taken != null) {
            all.returnLease(taken);
        }
        return taken != null;
    }

    /** Those that are out, and that of the first who waits, if any. */
    public int acquiredPermits() throws Exception {
        return all.getParticipantNodes().size();
    }

    private String kept(Lease taken) {
        held.put(taken.getNodeName(), taken);
        return taken.getNodeName();
    }

    private List<String> kept(Collection<Lease> taken) {
        List<String> permits = new ArrayList<>();
        taken.forEach(each -> permits.add(kept(each)));
        return permits;
    }
}
