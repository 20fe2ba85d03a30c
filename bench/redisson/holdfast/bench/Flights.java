// SPDX-License-Identifier: Apache-2.0
package holdfast.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/**
 * Takes and releases many locks repeatedly, with asynchronous calls. The thread that completes a
 * call starts the next call.
 */
final class Flights {
    private final List<Flight> all = new ArrayList<>();

    Flights(RedissonClient client, int atOnce) {
        for (int i = 0; i < atOnce; i++) {
            all.add(new Flight(client.getLock(Driver.nameOfLock(i)), i + 1L));
        }
    }

    Tally fly(long length) throws Exception {
        long began = System.nanoTime();
        all.forEach(one -> one.takeOff(began + length));
        for (Flight one : all) {
            one.landed.get();
        }
        long elapsed = System.nanoTime() - began;
        return new Tally(elapsed, all.stream().map(one -> one.samples).toList());
    }

    /** Repeated calls for one lock. Each call starts when the previous call has completed. */
    private static final class Flight {
        private final RLock lock;
        private final long owner; // no thread holds the lock, so the owner needs an id
        final Samples samples = new Samples();
        final CompletableFuture<Void> landed = new CompletableFuture<>();

        Flight(RLock lock, long owner) {
            this.lock = lock;
            this.owner = owner;
        }

        void takeOff(long end) {
            long began = System.nanoTime();
            lock.lockAsync(owner).thenCompose(held -> lock.unlockAsync(owner))
                    .whenComplete((released, failure) -> {
                        long now = System.nanoTime();
                        samples.add(now - began);
                        if (failure != null) {
                            landed.completeExceptionally(cause(failure));
                        } else if (now - end < 0) {
                            takeOff(end);
                        } else {
                            landed.complete(null);
                        }
                    });
        }

        private static Throwable cause(Throwable failure) {
            return failure instanceof CompletionException ? failure.getCause() : failure;
        }
    }
}
