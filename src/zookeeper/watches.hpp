// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zookeeper/wire/messages.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::zookeeper {

/// Who is to be told of what happens to which node, each once. The server keeps such a list of its
/// own, per connection and path; what it tells that nobody wants to know any more is ignored.
class watches {
public:
    enum class of : bool { node, children };

    struct watcher {
        of what = of::node;
        std::string path{};
        std::function<void()> tell{}; ///< empty: told, or it does not want to know any more
    };
    using shared_watcher = std::shared_ptr<watcher>;

    void add(shared_watcher);
    void remove(const shared_watcher&);

    /// Tells whom that concerns.
    void heard(const node_event&);

    /// Tells everybody: what happened meanwhile is not known.
    void tell_all();

    std::size_t size() const { return all_.size(); }

private:
    using list = std::multimap<std::string, shared_watcher>;

    static bool concerns(const node_event&, const watcher&);
    static void tell(const std::vector<shared_watcher>&);

    list all_;
};

} // namespace holdfast::zookeeper
