// SPDX-License-Identifier: Apache-2.0
package holdfast.bench;

import java.util.ArrayList;
import java.util.List;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** As many clients as were asked for so far. Each has connections and threads of its own. */
final class Clients {
    private final String address;
    private final List<RedissonClient> all = new ArrayList<>();

    Clients(String address) {
        this.address = address;
    }

    RedissonClient first() {
        return first(1).get(0);
    }

    List<RedissonClient> first(int count) {
        while (all.size() < count) {
            Config config = new Config();
            config.useSingleServer().setAddress(address);
            all.add(Redisson.create(config));
        }
        return all.subList(0, count);
    }
}
