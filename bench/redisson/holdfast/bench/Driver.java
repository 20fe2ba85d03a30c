// SPDX-License-Identifier: Apache-2.0
package holdfast.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.redisson.api.RedissonClient;

/**
 * Reads commands from standard input, and runs a turn with Redisson for each command. A command is
 * a line {@code <kind> <how many at once> <nanoseconds>}. The reply is a line {@code <done>
 * <elapsed> <sample>...} or {@code failed <why>} (bench/figures/samples.hpp). Redisson and the JVM
 * have their default settings, except the server's address.
 */
public final class Driver {
    private static Failover underWay;

    private Driver() {}

    public static void main(String[] args) throws IOException {
        PrintStream answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        System.setOut(System.err); // output of libraries must not mix with the replies
        var clients = new Clients(args[0]);
        clients.first(); // connects, or fails at once
        answers.println("Java " + System.getProperty("java.version"));

        var commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            answers.println(answer(clients, line.split(" ")));
        }
        Runtime.getRuntime().halt(0); // the program that sent the commands has ended
    }

    private static String answer(Clients clients, String[] command) {
        RedissonClient client = clients.first();
        int atOnce = Integer.parseInt(command[1]);
        long length = Long.parseLong(command[2]);
        try {
            Tally tally = switch (command[0]) {
                case "threads" -> Threads.onLocksOfTheirOwn(client, atOnce, length);
                case "replicated" -> Threads.onLocksOfTheirOwn(
                        clients.withReplicas(command, 3), atOnce, length);
                case "gate" -> Threads.onOneLock(client, atOnce, length);
                case "now-and-then" -> Threads.onOneLockNowAndThen(client, length);
                case "reentry" -> Threads.insideOneLock(client, length);
                case "readers-and-writer" -> new Sharers(client).share(atOnce, length);
                case "semaphore" ->
                    Threads.onOneSemaphore(client, Integer.parseInt(command[3]), atOnce, length);
                case "permits" ->
                    Threads.onLeasedPermits(client, Integer.parseInt(command[3]), atOnce, length);
                case "rate" ->
                    Threads.onOneRate(client, Integer.parseInt(command[3]), atOnce, length);
                case "fair" -> Threads.inOneQueue(clients.first(atOnce), length);
                case "redlock" -> Threads.onMajorities(clients.at(command, 3), atOnce, length);
                case "failover-prepare" -> prepare(command);
                case "failover" -> underWay.finish();
                case "async" -> new Flights(client, atOnce).fly(length);
                default -> throw new IllegalArgumentException(command[0]);
            };
            return tally.toString();
        } catch (Exception failure) {
            return "failed " + failure.toString().replace('\n', ' ');
        }
    }

    private static Tally prepare(String[] command) {
        underWay = new Failover(Clients.of(command, 5), command[3], command[4]);
        return new Tally(1, 0, List.of());
    }

    /** Returns the name of lock {@code i}. The other contenders use the same names. */
    static String nameOfLock(int i) {
        return "bench:" + i;
    }
}
