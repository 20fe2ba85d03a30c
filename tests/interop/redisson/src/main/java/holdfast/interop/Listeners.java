// SPDX-License-Identifier: Apache-2.0
package holdfast.interop;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.redisson.api.DeletedObjectListener;
import org.redisson.api.ExpiredObjectListener;
import org.redisson.api.RObject;

/** What Redisson's own listeners hear of objects: one of each kind for an object that is listened to. */
final class Listeners {
    private record Ear(List<Integer> ids, List<String> heard) {}

    private final Map<RObject, Ear> ears = new ConcurrentHashMap<>();

    Object listen(RObject to) {
        List<String> heard = new CopyOnWriteArrayList<>();
        int expired = to.addListener((ExpiredObjectListener) name -> heard.add("expired " + name));
        int deleted = to.addListener((DeletedObjectListener) name -> heard.add("deleted " + name));
        ears.put(to, new Ear(List.of(expired, deleted), heard));
        return null;
    }

    List<String> heard(RObject by) {
        return ears.get(by).heard();
    }

    /** What was heard remains to be asked for. */
    Object unlisten(RObject to) {
        ears.get(to).ids().forEach(to::removeListener);
        return null;
    }
}
