// SPDX-License-Identifier: Apache-2.0
#include "zookeeper/watches.hpp"

#include <utility>

namespace holdfast::zookeeper {

void watches::add(shared_watcher who) {
    std::string path = who->path;
    all_.emplace(std::move(path), std::move(who));
}

void watches::remove(const shared_watcher& who) {
    who->tell = {};
    auto [one, end] = all_.equal_range(who->path);
    for (; one != end; ++one)
        if (one->second == who) {
            all_.erase(one);
            return;
        }
}

bool watches::concerns(const node_event& told, const watcher& who) {
    using kind = node_event::kind;
    return told.is(kind::deleted) || told.is(who.what == of::node ? kind::changed : kind::children);
}

void watches::heard(const node_event& told) {
    std::vector<shared_watcher> concerned;
    auto [one, end] = all_.equal_range(told.path);
    while (one != end) {
        const auto next = std::next(one);
        if (concerns(told, *one->second)) {
            concerned.push_back(std::move(one->second));
            all_.erase(one);
        }
        one = next;
    }
    tell(concerned);
}

void watches::tell_all() {
    std::vector<shared_watcher> everybody;
    for (auto& [path, who] : std::exchange(all_, {}))
        everybody.push_back(std::move(who));
    tell(everybody);
}

/// Calls the watchers. A callback may do anything, for example remove another watcher of the list.
void watches::tell(const std::vector<shared_watcher>& all) {
    for (const shared_watcher& one : all)
        if (const auto wake = std::exchange(one->tell, {}))
            wake();
}

} // namespace holdfast::zookeeper
