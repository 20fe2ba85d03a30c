// SPDX-License-Identifier: Apache-2.0
package holdfast.interop;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Takes turns in ./dev bench, as bench/redisson does. A line is {@code <kind> <callers>
 * <nanoseconds>}, and is answered by {@code <done> <elapsed> <sample>...}, or {@code failed <why>}
 * (bench/figures/samples.hpp). Curator is as it comes: nothing is set but address and session.
 */
final class Bench {
    private static final int SESSION_MS = 30_000; // as long as holdfast's lease
    private static final String ROOT = "/holdfast";

    private final String address;
    private final List<LocksOfCurator> clients = new ArrayList<>();
    private final ExecutorService pool = Executors.newCachedThreadPool(work -> {
        var thread = new Thread(work);
        thread.setDaemon(true);
        return thread;
    });
    private long releasedAt; // guarded by the lock of the queue and nothing else

    private Bench(String address) {
        this.address = address;
    }

    /** Does not return. */
    static void takeTurns(String address) throws IOException {
        PrintStream answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        System.setOut(System.err); // whatever a library prints is no answer
        var bench = new Bench(address.replaceFirst("^zk://", ""));
        answers.println("Curator " + LocksOfCurator.version() + ", Java "
                + System.getProperty("java.version"));
        var commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            answers.println(bench.turn(line.split(" ")));
        }
        Runtime.getRuntime().halt(0); // whoever commanded is gone
    }

    private String turn(String[] words) {
        int callers = Integer.parseInt(words[1]);
        long length = Long.parseLong(words[2]);
        try {
            return switch (words[0]) {
                case "pairs" -> pairs(callers, length);
                case "queue" -> queue(callers, length);
                default -> throw new IllegalArgumentException(words[0]);
            };
        } catch (Exception failure) {
            return "failed " + failure.toString().replace('\n', ' ');
        }
    }

    /** A caller's lock is its own, and all are of one client. */
    private String pairs(int callers, long length) throws Exception {
        return together(callers, length, i -> {
            LockOfCurator lock = client(0).getLock("bench:" + i);
            return () -> {
                long began = System.nanoTime();
                lock.lock();
                lock.unlock();
                return System.nanoTime() - began;
            };
        });
    }

    /** One lock, which each caller wants through a session of its own, and holds for 1 to 3 ms. */
    private String queue(int callers, long length) throws Exception {
        client(callers - 1);
        return together(callers, length, i -> {
            LockOfCurator lock = client(i).getLock("bench:0");
            var random = new Random(i);
            return () -> {
                long asked = System.nanoTime();
                lock.lock();
                long waited = System.nanoTime() - Math.max(asked, releasedAt);
                Thread.sleep(1 + random.nextInt(3));
                releasedAt = System.nanoTime();
                lock.unlock();
                return waited;
            };
        });
    }

    private synchronized LocksOfCurator client(int number) throws Exception {
        while (clients.size() <= number) {
            clients.add(new LocksOfCurator(address, SESSION_MS, ROOT, 0));
        }
        return clients.get(number);
    }

    private interface CallMaker {
        Callable<Long> of(int caller) throws Exception;
    }

    private String together(int callers, long length, CallMaker maker) throws Exception {
        List<Callable<List<Long>>> all = new ArrayList<>();
        long began = System.nanoTime();
        for (int i = 0; i < callers; i++) {
            Callable<Long> once = maker.of(i);
            all.add(() -> {
                List<Long> samples = new ArrayList<>();
                while (System.nanoTime() - began < length) {
                    samples.add(once.call());
                }
                return samples;
            });
        }
        var line = new StringBuilder();
        long done = 0;
        for (Future<List<Long>> each : pool.invokeAll(all)) {
            done += each.get().size();
            each.get().forEach(sample -> line.append(' ').append(sample));
        }
        return done + " " + (System.nanoTime() - began) + line;
    }
}
