// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/zookeeper/own_node.hpp"

#include <holdfast/store.hpp>

#include <list>
#include <memory>

namespace holdfast::zookeeper {

class household;

/// Watches the nodes of this client's holds (`custodian`), so that a holder learns at once if its
/// node is deleted. The watch is set some time after the grant, because most holds are released
/// before that. Thread safety: call everything on the client's executor.
class custodian {
public:
    explicit custodian(household& home)
        : home_{home} {}
    custodian(const custodian&) = delete;

    std::unique_ptr<watch> over(own_node, doubter& whom);

    void try_again(); ///< sets the watches that could not be set before
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
    entries unwatched_; ///< in the order of the times when the watch is to be set
    entries watched_;
    std::shared_ptr<alarm> wake_;
    bool running_ = false;
};

} // namespace holdfast::zookeeper
