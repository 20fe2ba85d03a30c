// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zookeeper/wire/messages.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::zookeeper {

/// Table of the watchers of nodes. Each watcher is called once. The server has its own list for
/// each connection and path, so an event may have no watcher here; the event is then ignored.
class watches {
public:
    enum class of : bool { node, children };

    struct watcher {
        of what = of::node;
        std::string path{};
        /// callback; empty: it was called, or the watcher was removed
        std::function<void()> tell{};
    };
    using shared_watcher = std::shared_ptr<watcher>;

    void add(shared_watcher);
    void remove(const shared_watcher&);

    /// Calls the watchers of the node in the event.
    void heard(const node_event&);

    /// Calls all watchers, because events may have been missed.
    void tell_all();

    std::size_t size() const { return all_.size(); }

private:
    using list = std::multimap<std::string, shared_watcher>;

    static bool concerns(const node_event&, const watcher&);
    static void tell(const std::vector<shared_watcher>&);

    list all_;
};

} // namespace holdfast::zookeeper
