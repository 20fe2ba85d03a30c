// SPDX-License-Identifier: Apache-2.0
package holdfast.interop;

import com.google.gson.Gson;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;

/**
 * Does with a library what its standard input says: one JSON object a line, each answered by one with
 * the same id when it is done. tests/interop/README.md has the commands; the C++ peer speaks the
 * same language.
 */
final class Conversation {
    private final Gson gson = new Gson();
    private final PrintStream answers;
    private final Library library;
    private final Map<String, Actor> actors = new ConcurrentHashMap<>();
    private final Map<Long, Future<?>> pending = new ConcurrentHashMap<>();
    private final Map<String, Crew> crews = new ConcurrentHashMap<>();

    private Conversation(Library library, PrintStream answers) {
        this.library = library;
        this.answers = answers;
    }

    /** Does not return. */
    static void about(Library library) throws IOException {
        PrintStream answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        System.setOut(System.err); // whatever a library prints is no answer
        var conversation = new Conversation(library, answers);
        var commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            conversation.obey(conversation.gson.fromJson(line, Command.class));
        }
        Runtime.getRuntime().halt(0); // whoever commanded is gone
    }

    private void obey(Command command) {
        switch (command.verb()) {
            case "connect" -> answer(command, () -> library.connect(command));
            case "close" -> aside(command, () -> library.close(command.client()));
            case "call" -> actor(command).run(() -> call(command));
            case "time" -> actor(command).run(() -> answer(command, () -> roundTrips(command)));
            case "thread" -> answer(command, () -> actor(command).id());
            case "asleep" -> answer(command, () -> actor(command).isAsleep());
            case "interrupt" -> answer(command, () -> actor(command).interrupt());
            case "cancel" -> actor(command).run(() -> answer(command, () -> cancel(command)));
            case "work" -> answer(command, () -> crews.put(command.crew(), library.start(command)));
            case "stop" -> aside(command, () -> crews.remove(command.crew()).stop());
            default -> answer(command, () -> library.other(command));
        }
    }

    private Actor actor(Command command) {
        return actors.computeIfAbsent(command.actor(), Actor::new);
    }

    /** Answers when the call has returned or, if it returned a future, when that is completed. */
    private void call(Command command) {
        try {
            Object result = Calls.call(library.object(command), command.method(), command.args());
            if (result instanceof Future<?> future) {
                pending.put(command.id(), future);
                Calls.whenComplete(future, (value, failure) -> {
                    pending.remove(command.id());
                    settle(command, value, failure);
                });
            } else {
                settle(command, result, null);
            }
        } catch (Throwable failure) {
            fail(command, failure);
        }
    }

    /** How long each of so many calls took, in microseconds, with nothing of ours in between. */
    private long[] roundTrips(Command command) throws Throwable {
        Object on = library.object(command);
        long[] took = new long[command.count()];
        for (int i = 0; i < took.length; i++) {
            long began = System.nanoTime();
            Calls.call(on, command.method(), command.args());
            took[i] = (System.nanoTime() - began) / 1000;
        }
        return took;
    }

    /** By the actor that made the call, so that the call has been made. */
    private boolean cancel(Command command) {
        Future<?> future = pending.get(command.target());
        return future != null && future.cancel(true);
    }

    private interface Deed {
        Object perform() throws Throwable;
    }

    private void answer(Command command, Deed deed) {
        try {
            settle(command, deed.perform(), null);
        } catch (Throwable failure) {
            fail(command, failure);
        }
    }

    /** For what takes a while and belongs to no actor: the next command does not wait for it. */
    private void aside(Command command, Deed deed) {
        new Thread(() -> answer(command, deed), command.verb()).start();
    }

    private void fail(Command command, Throwable failure) {
        settle(command, null, failure);
    }

    private void settle(Command command, Object result, Throwable failure) {
        JsonObject answer = new JsonObject();
        answer.addProperty("id", command.id());
        if (failure != null) {
            answer.addProperty("error", Calls.words(failure));
        } else if (result instanceof Crew || result == null) {
            answer.add("result", JsonNull.INSTANCE);
        } else {
            answer.add("result", gson.toJsonTree(result));
        }
        synchronized (answers) {
            answers.println(answer);
        }
    }
}
