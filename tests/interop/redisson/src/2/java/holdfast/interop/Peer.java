// SPDX-License-Identifier: Apache-2.0
package holdfast.interop;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import com.google.gson.Gson;
import com.google.gson.JsonArray;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.redisson.Config;
import org.redisson.Redisson;
import org.redisson.RedissonClient;
import org.redisson.core.RLock;

/**
 * The peer for a Redisson 2, whose classes are in other packages: as much of the language of
 * tests/interop/README.md as a test of exclusion needs.
 */
public final class Peer {
    private final Gson gson = new Gson();
    private final PrintStream answers;
    private final Map<String, RedissonClient> clients = new ConcurrentHashMap<>();
    private final Map<String, ExecutorService> actors = new ConcurrentHashMap<>();

    private Peer(PrintStream answers) {
        this.answers = answers;
    }

    public static void main(String[] none) throws IOException {
        PrintStream answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        System.setOut(System.err); // whatever a library prints is no answer
        Peer peer = new Peer(answers);
        var commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            peer.obey(peer.gson.fromJson(line, JsonObject.class));
        }
        Runtime.getRuntime().halt(0); // whoever commanded is gone
    }

    /** What belongs to no actor has a thread of its own. */
    private void obey(JsonObject command) {
        String actor = text(command, command.has("actor") ? "actor" : "client");
        actors.computeIfAbsent(actor, name -> Executors.newSingleThreadExecutor())
                .execute(() -> answer(command));
    }

    private void answer(JsonObject command) {
        JsonObject answer = new JsonObject();
        answer.add("id", command.get("id"));
        try {
            Object result = perform(command);
            answer.add("result", result == null ? JsonNull.INSTANCE : gson.toJsonTree(result));
        } catch (Exception failure) {
            answer.addProperty("error",
                    failure.getClass().getSimpleName() + ": " + failure.getMessage());
        }
        synchronized (answers) {
            answers.println(answer);
        }
    }

    private Object perform(JsonObject command) throws Exception {
        String client = text(command, "client");
        switch (text(command, "do")) {
            case "connect":
                clients.put(client, connected(command));
                return ""; // its half of an owner, which a client of this age keeps to itself
            case "close":
                clients.remove(client).shutdown();
                return null;
            case "call":
                RLock lock = clients.get(client).getLock(text(command, "name"));
                return call(lock, text(command, "method"), command.getAsJsonArray("args"));
            default:
                throw new UnsupportedOperationException(text(command, "do"));
        }
    }

    private static RedissonClient connected(JsonObject command) {
        if (command.getAsJsonObject("settings").size() > 0) {
            throw new IllegalArgumentException("there are no settings here");
        }
        Config config = new Config();
        config.useSingleServer().setAddress(text(command, "address").replaceFirst("^redis://", ""));
        return Redisson.create(config);
    }

    private static Object call(RLock lock, String method, JsonArray args) throws Exception {
        long first = args.size() > 1 ? args.get(0).getAsLong() : 0;
        switch (method + (args.size() > 1 ? args.size() - 1 : "")) {
            case "lock":
                lock.lock();
                return null;
            case "lock1":
                lock.lock(first, MILLISECONDS);
                return null;
            case "tryLock":
                return lock.tryLock();
            case "tryLock1":
                return lock.tryLock(first, MILLISECONDS);
            case "unlock":
                lock.unlock();
                return null;
            case "isLocked":
                return lock.isLocked();
            case "isHeldByCurrentThread":
                return lock.isHeldByCurrentThread();
            default:
                throw new NoSuchMethodException(method + args);
        }
    }

    private static String text(JsonObject command, String key) {
        return command.get(key).getAsString();
    }
}
