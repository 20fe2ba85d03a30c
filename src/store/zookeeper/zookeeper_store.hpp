// SPDX-License-Identifier: Apache-2.0
// The ZooKeeper store: a lock store, a counter store and an inspector in one session.
#pragma once

#include "store/zookeeper/inspector.hpp"
#include "store/zookeeper/locks.hpp"
#include "store/zookeeper/semaphores.hpp"
#include "store/zookeeper/store_session.hpp"
#include "zookeeper/session.hpp"

#include <holdfast/store.hpp>

#include <memory>
#include <utility>
#include <vector>

namespace holdfast::zookeeper {

/// Store in one session with an ensemble or, in some tests, with a model of an ensemble.
class zookeeper_store final : public store {
public:
    zookeeper_store(std::unique_ptr<session> at, store_context context, const options& how)
        : home_{std::make_shared<store_session>(std::move(at), std::move(context), how)}
        , locks_{home_}
        , counters_{home_}
        , inspector_{home_}
        , session_wanted_{how.session_timeout} {
        home_->begin();
    }
    zookeeper_store(const zookeeper_store&) = delete;
    ~zookeeper_store() override { close(); }

    lock_store& locks() noexcept override { return locks_; }
    counter_store* counters() noexcept override { return &counters_; }
    inspector& operators_view() noexcept override { return inspector_; }
    /// Returns an identity which says that the servers forget nothing: each answered write is on
    /// the disks of a majority of the servers.
    server_identity identity(const lock_name&) const override {
        return {home_->ensemble(), time_point::min()};
    }
    asio::awaitable<std::vector<finding>> examine(ask trial) override;
    asio::awaitable<void> depart() override;
    void close() noexcept override { home_->close(); }

private:
    const std::shared_ptr<store_session> home_;
    zookeeper_locks locks_;
    zookeeper_counters counters_;
    lock_inspector inspector_;
    const duration session_wanted_;
};

/// Returns the findings about an ensemble's servers. Does no I/O and reads no clock.
std::vector<finding> judge_servers(const survey&);

/// Implements `store::examine`. `asked` is the session timeout that the client requested.
asio::awaitable<std::vector<finding>> examine_ensemble(std::shared_ptr<store_session>, ask trial,
                                                       duration asked);

} // namespace holdfast::zookeeper
