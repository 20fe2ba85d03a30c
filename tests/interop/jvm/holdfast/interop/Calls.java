// SPDX-License-Identifier: Apache-2.0
package holdfast.interop;

import com.google.gson.JsonElement;
import com.google.gson.JsonPrimitive;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.function.BiConsumer;

/**
 * Calls by name. Versions of a library differ in what they offer, and this is built against each: what
 * a version does not have is an error in an answer, and not of the compiler.
 */
final class Calls {
    private Calls() {}

    /** What a client's getter makes: "getLock"; or a path: "getReadWriteLock/readLock". */
    static Object object(Object client, String path, String name) throws Throwable {
        Object found = null;
        for (String getter : path.split("/")) {
            found = found == null
                    ? call(client, getter, List.of(new JsonPrimitive(name)))
                    : call(found, getter, List.of());
        }
        return found;
    }

    /** The overload that takes such arguments; throws what the call throws. */
    static Object call(Object on, String name, List<JsonElement> words) throws Throwable {
        List<JsonElement> given = words == null ? List.of() : words;
        for (Method method : on.getClass().getMethods()) {
            boolean callable = Modifier.isPublic(method.getDeclaringClass().getModifiers());
            if (callable && method.getName().equals(name) && takes(method, given)) {
                try {
                    return method.invoke(on, arguments(method, given));
                } catch (InvocationTargetException thrown) {
                    throw thrown.getCause();
                }
            }
        }
        throw new NoSuchMethodException(on.getClass().getSimpleName() + "." + name + given);
    }

    private static boolean takes(Method method, List<JsonElement> words) {
        Class<?>[] types = method.getParameterTypes();
        if (types.length != words.size()) {
            return false;
        }
        for (int i = 0; i < types.length; i++) {
            if (!fits(types[i], words.get(i))) {
                return false;
            }
        }
        return true;
    }

    private static boolean fits(Class<?> type, JsonElement given) {
        if (given.isJsonArray()) {
            return type == List.class;
        }
        if (given.isJsonObject()) {
            return type == Duration.class;
        }
        JsonPrimitive word = given.getAsJsonPrimitive();
        return word.isNumber() ? type == long.class || type == int.class
                : word.isBoolean() ? type == boolean.class
                : type == String.class || type.isEnum();
    }

    private static Object[] arguments(Method method, List<JsonElement> words) {
        Class<?>[] types = method.getParameterTypes();
        Object[] values = new Object[types.length];
        for (int i = 0; i < types.length; i++) {
            JsonElement word = words.get(i);
            values[i] = word.isJsonArray() ? texts(word)
                    : word.isJsonObject() ? length(word)
                    : value(types[i], word.getAsJsonPrimitive());
        }
        return values;
    }

    /** The ids of several permits. */
    private static List<String> texts(JsonElement words) {
        List<String> all = new ArrayList<>();
        words.getAsJsonArray().forEach(each -> all.add(each.getAsString()));
        return all;
    }

    /** {"ms": 60000} */
    private static Duration length(JsonElement word) {
        return Duration.ofMillis(word.getAsJsonObject().get("ms").getAsLong());
    }

    private static Object value(Class<?> type, JsonPrimitive word) {
        if (type == long.class) {
            return word.getAsLong();
        }
        if (type == int.class) {
            return word.getAsInt();
        }
        if (type == boolean.class) {
            return word.getAsBoolean();
        }
        if (type == String.class) {
            return word.getAsString();
        }
        for (Object constant : type.getEnumConstants()) {
            if (constant.toString().equals(word.getAsString())) {
                return constant;
            }
        }
        throw new IllegalArgumentException(type.getSimpleName() + " has no " + word);
    }

    /** Old futures of Redisson are not CompletableFutures, but all are stages. */
    static void whenComplete(Future<?> future, BiConsumer<Object, Throwable> then) {
        CompletionStage<?> stage = (CompletionStage<?>) future;
        stage.whenComplete(then);
    }

    /** "IllegalMonitorStateException: attempt to unlock …" */
    static String words(Throwable failure) {
        Throwable cause = failure instanceof CompletionException && failure.getCause() != null
                ? failure.getCause() : failure;
        return cause.getClass().getSimpleName() + ": " + cause.getMessage();
    }
}
