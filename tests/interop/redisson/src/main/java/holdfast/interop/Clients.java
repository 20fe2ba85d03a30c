// SPDX-License-Identifier: Apache-2.0
package holdfast.interop;

import com.google.gson.JsonElement;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** The Redisson clients of this process, by the name that commands give them. */
final class Clients {
    private final Map<String, RedissonClient> all = new ConcurrentHashMap<>();

    /** The UUID that is the first half of every owner this client writes. */
    String connect(Command command) throws Throwable {
        Config config = new Config();
        apply(command.settings(), config);
        var server = config.useSingleServer().setAddress(command.address());
        apply(command.serverSettings(), server);
        RedissonClient client = Redisson.create(config);
        all.put(command.client(), client);
        return client.getId();
    }

    RedissonClient get(String name) {
        return all.get(name);
    }

    Object close(String name) {
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
