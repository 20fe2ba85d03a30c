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

/** As many clients as were asked for so far. Each has connections and threads of its own. */
final class Clients {
    private final String address;
    private final List<RedissonClient> all = new ArrayList<>();
    private final Map<String, RedissonClient> ofNodes = new HashMap<>();

    Clients(String address) {
        this.address = address;
    }

    /** One for each address from {@code words[begin]} on; the same ones in each turn. */
    List<RedissonClient> at(String[] words, int begin) {
        return Arrays.stream(words).skip(begin)
                .map(node -> ofNodes.computeIfAbsent(node, Clients::connected)).toList();
    }

    /** Of the primary {@code words[begin]} and the replicas behind it; the same one in each turn. */
    RedissonClient withReplicas(String[] words, int begin) {
        return ofNodes.computeIfAbsent("replicas of " + words[begin], unused -> {
            var config = new Config();
            config.useMasterSlaveServers().setMasterAddress(words[begin])
                    .addSlaveAddress(Arrays.copyOfRange(words, begin + 1, words.length));
            return Redisson.create(config);
        });
    }

    /** Makes clients of servers of which one will fail: {@code words[begin]} says what they are. */
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

    /** Each is another, with connections of its own. */
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
