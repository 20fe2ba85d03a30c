// SPDX-License-Identifier: Apache-2.0
package holdfast.interop;

import com.google.gson.JsonElement;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The Curator clients of this process. */
final class Clients implements Library {
    private static final int SESSION_MS = 10_000;
    private static final String ROOT = "/holdfast";

    private final Map<String, LocksOfCurator> all = new ConcurrentHashMap<>();

    /** Its version. Settings: the session's {@code lease_time}, {@code root}, {@code permits}. */
    @Override
    public String connect(Command command) throws Throwable {
        String address = command.address().replaceFirst("^zk://", "");
        JsonElement session = command.settings().get("lease_time");
        JsonElement root = command.settings().get("root");
        JsonElement permits = command.settings().get("permits");
        all.put(command.client(), new LocksOfCurator(
                address.replaceFirst("[/?].*$", ""),
                session == null ? SESSION_MS : session.getAsInt(),
                root == null ? ROOT : root.getAsString(),
                permits == null ? 0 : permits.getAsInt()));
        return LocksOfCurator.version();
    }

    @Override
    public Object object(Command command) throws Throwable {
        return Calls.object(all.get(command.client()), command.object(), command.name());
    }

    @Override
    public Crew start(Command command) throws IOException {
        LocksOfCurator client = all.get(command.client());
        return new Crew(command.work(),
                (history, random) -> new TurnsAtCurator(client, history, random));
    }

    @Override
    public Object close(String name) {
        all.remove(name).close();
        return null;
    }
}
