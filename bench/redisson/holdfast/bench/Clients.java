// SPDX-License-Identifier: Apache-2.0
package holdfast.bench;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Creates clients at their first use. Each client has its own connections and threads. */
final class Clients {
    private final String address;
    private final List<RedissonClient> all = new ArrayList<>();
    private final Map<String, RedissonClient> ofNodes = new HashMap<>();

    Clients(String address) {
        this.address = address;
    }

    /** Returns a client for each address from {@code words[begin]} on, the same in each turn. */
    List<RedissonClient> at(String[] words, int begin) {
        return Arrays.stream(words).skip(begin)
                .map(node -> ofNodes.computeIfAbsent(node, Clients::connected)).toList();
    }

    /**
     * Returns a client of the primary {@code words[begin]} and its replicas, which follow it in
     * {@code words}. The client is the same in each turn.
     */
    RedissonClient withReplicas(String[] words, int begin) {
        return ofNodes.computeIfAbsent("replicas of " + words[begin], unused -> {
            var config = new Config();
            config.useMasterSlaveServers().setMasterAddress(words[begin])
                    .addSlaveAddress(Arrays.copyOfRange(words, begin + 1, words.length));
            return Redisson.create(config);
        });
    }

    /**
     * Returns a factory of clients for a group of servers. One of the servers will fail.
     * {@code words[begin]} is the kind of the group.
     */
    static Making of(String[] words, int begin) {
        String[] addresses = Arrays.copyOfRange(words, begin + 1, words.length);
        return switch (words[begin]) {
            case "cluster" -> () -> {
                var config = new Config();
                config.useClusterServers().addNodeAddress(addresses);
                return Redisson.create(config);
            };
            case "sentinel" -> () -> {
                var config = new Config();
                config.useSentinelServers().setMasterName("locks").addSentinelAddress(addresses);
                return Redisson.create(config);
            };
            default -> throw new IllegalArgumentException(words[begin]);
        };
    }

    /** Creates a new client, with its own connections, at each call. */
    interface Making {
        RedissonClient make();
    }

    RedissonClient first() {
        return first(1).get(0);
    }

    List<RedissonClient> first(int count) {
        while (all.size() < count) {
            all.add(connected(address));
        }
        return all.subList(0, count);
    }

    private static RedissonClient connected(String address) {
        Config config = new Config();
        config.useSingleServer().setAddress(address);
        return Redisson.create(config);
    }
}
