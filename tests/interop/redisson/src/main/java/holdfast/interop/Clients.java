// SPDX-License-Identifier: Apache-2.0
package holdfast.interop;

import com.google.gson.JsonElement;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RObject;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** The Redisson clients of this process. */
final class Clients implements Library {
    private final Map<String, RedissonClient> all = new ConcurrentHashMap<>();
    private final Map<List<String>, Object> objects = new ConcurrentHashMap<>();
    private final Listeners listeners = new Listeners();

    /** The UUID that is the first half of every owner this client writes. */
    @Override
    public String connect(Command command) throws Throwable {
        Config config = new Config();
        apply(command.settings(), config);
        apply(command.serverSettings(), reached(command, config));
        RedissonClient client = Redisson.create(config);
        all.put(command.client(), client);
        return client.getId();
    }

    /** One server; or the nodes of a cluster; or Sentinels, and the service that they watch over. */
    private static Object reached(Command command, Config config) {
        if (command.addresses() == null) {
            return config.useSingleServer().setAddress(command.address());
        }
        String[] nodes =
                command.addresses().stream().map(each -> "redis://" + each).toArray(String[]::new);
        if (command.service() == null) {
            return config.useClusterServers().addNodeAddress(nodes);
        }
        return config.useSentinelServers().setMasterName(command.service())
                .addSentinelAddress(nodes).setCheckSentinelsList(false);
    }

    /** A lock remembers leases. */
    @Override
    public Object object(Command command) throws Throwable {
        var key = List.of(command.client(), command.object(), command.name());
        Object known = objects.get(key);
        if (known == null) {
            known = Calls.object(all.get(command.client()), command.object(), command.name());
            Object first = objects.putIfAbsent(key, known);
            known = first == null ? known : first;
        }
        return known;
    }

    /**
     * Makes a lock of several, which may be of other clients: {@code "object": "getRedLock"}. Calls
     * reach it by the command's client, object and name, as they do any other.
     */
    private Object combine(Command command) throws Throwable {
        RLock[] parts = new RLock[command.over().size()];
        for (int i = 0; i < parts.length; i++) {
            var part = command.over().get(i);
            parts[i] = (RLock) Calls.object(all.get(part.client()), part.object(), part.name());
        }
        Object made = RedissonClient.class.getMethod(command.object(), RLock[].class)
                .invoke(all.get(command.client()), (Object) parts);
        objects.put(List.of(command.client(), command.object(), command.name()), made);
        return null;
    }

    @Override
    public Crew start(Command command) throws IOException {
        RedissonClient client = all.get(command.client());
        return new Crew(command.work(),
                (history, random) -> new LockTurns(client, command.work(), history, random));
    }

    @Override
    public Object other(Command command) throws Throwable {
        return switch (command.verb()) {
            case "combine" -> combine(command);
            case "listen" -> listeners.listen((RObject) object(command));
            case "heard" -> listeners.heard((RObject) object(command));
            case "unlisten" -> listeners.unlisten((RObject) object(command));
            default -> Library.super.other(command);
        };
    }

    @Override
    public Object close(String name) {
        objects.keySet().removeIf(key -> key.get(0).equals(name));
        all.remove(name).shutdown(0, 5, TimeUnit.SECONDS);
        return null;
    }

    /** {"lockWatchdogTimeout": 3000} calls setLockWatchdogTimeout(3000). */
    private static void apply(Map<String, JsonElement> settings, Object to) throws Throwable {
        if (settings == null) {
            return;
        }
        for (var setting : settings.entrySet()) {
            String key = setting.getKey();
            String setter = "set" + Character.toUpperCase(key.charAt(0)) + key.substring(1);
            Calls.call(to, setter, List.of(setting.getValue()));
        }
    }
}
