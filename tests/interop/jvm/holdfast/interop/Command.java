// SPDX-License-Identifier: Apache-2.0
package holdfast.interop;

import com.google.gson.JsonElement;
import com.google.gson.annotations.SerializedName;
import java.util.List;
import java.util.Map;

/** One line of standard input. What a verb does not need is absent. */
record Command(
        long id,
        @SerializedName("do") String verb,
        String client,
        String actor,
        String object,
        String name,
        String method,
        List<JsonElement> args,
        int count,
        long target,
        String address,
        List<String> addresses,
        String service,
        Map<String, JsonElement> settings,
        @SerializedName("server_settings") Map<String, JsonElement> serverSettings,
        String crew,
        Work work,
        List<Part> over) {

    /** One of the locks that a lock of several is made of. */
    record Part(String client, String object, String name) {}

    /**
     * What a crew of threads does until it is stopped: turns drawn at random, on random names. {@code
     * goesOn}: a call that fails is no reason to end, since servers fail.
     */
    record Work(
            int threads,
            List<String> names,
            List<Turn> turns,
            String history,
            long seed,
            @SerializedName("goes_on") boolean goesOn) {}

    /**
     * Lengths of time are milliseconds. {@code patience}: −1 for ever, 0 one attempt. {@code lease}: 0
     * for renewed. {@code hold} and {@code pause}: at most so long, drawn at random. {@code depth}:
     * how often the lock is entered, how many permits are drawn, or to which count a latch is set.
     * {@code cancel}: the wait is called off after so long; −1 never. {@code object}: which lock, as
     * for a call; {@code suffix} comes behind the name. {@code downgrade}: a writer goes on as a
     * reader. {@code rest}: a latch is set in every other stretch of so long alone.
     */
    record Turn(
            long patience,
            long lease,
            long hold,
            long pause,
            int depth,
            long cancel,
            String object,
            String suffix,
            boolean downgrade,
            long rest) {}
}
