// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/zookeeper/own_node.hpp"

#include <holdfast/store.hpp>

#include <list>
#include <memory>

namespace holdfast::zookeeper {

class household;

/// Watcher of the nodes of this client's holds (`custodian`). It tells a holder at once if the
/// holder's node is deleted. A watch is set some time after the grant, because most holds are
/// released earlier. Thread safety: call everything on the client's executor.
class custodian {
public:
    explicit custodian(household& home)
        : home_{home} {}
    custodian(const custodian&) = delete;

    std::unique_ptr<watch> over(own_node, doubter& whom);

    void try_again(); ///< sets the watches that could not be set earlier
    void close() noexcept;

private:
    struct entry;
    using entries = std::list<std::shared_ptr<entry>>;
    class membership;

    void wait_for(const std::shared_ptr<entry>&);
    asio::awaitable<void> run(std::shared_ptr<household>);
    asio::awaitable<void> set(std::weak_ptr<entry>);
    void changed(const std::weak_ptr<entry>&);

    household& home_;
    /// holds without a watch yet, in the order of the times when their watches are due
    entries unwatched_;
    entries watched_;
    std::shared_ptr<alarm> wake_;
    bool running_ = false;
};

} // namespace holdfast::zookeeper
