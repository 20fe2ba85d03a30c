// SPDX-License-Identifier: Apache-2.0
// Changes nodes of an ensemble one by one, as an operator or another program does.
#pragma once

#include "runtime/clock.hpp"
#include "support/loop_thread.hpp"
#include "zookeeper/make_session.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::support {

/// One ZooKeeper session that a test uses directly. Each call returns when it is done. Thread
/// safety: one caller at a time.
class zookeeper_hand {
    template <typename Work>
    auto done(Work work) {
        auto story = work(*session_);
        return asio::co_spawn(loop_.io(), std::move(story), asio::use_future).get();
    }

public:
    explicit zookeeper_hand(std::uint16_t port) {
        zookeeper::options how;
        how.servers = {{"127.0.0.1", port}};
        how.session_timeout = std::chrono::seconds{20};
        how.command_timeout = std::chrono::seconds{20};
        session_ = zookeeper::make_session(zookeeper::checked(std::move(how)), context());
    }
    zookeeper_hand(const zookeeper_hand&) = delete;
    ~zookeeper_hand() {
        (void)done([](zookeeper::session& s) -> asio::awaitable<bool> {
            co_await s.depart();
            s.close();
            co_return true;
        });
        loop_.finish();
    }

    zookeeper::session::creation create(const std::string& path, zookeeper::node_mode mode,
                                        const std::string& data = {}) {
        return done([&](zookeeper::session& s) -> asio::awaitable<zookeeper::session::creation> {
            zookeeper::new_node wanted{path, data, mode};
            co_return co_await s.create(std::move(wanted));
        });
    }
    zookeeper::listing list(const std::string& path) {
        return done([&](zookeeper::session& s) -> asio::awaitable<zookeeper::listing> {
            co_await s.sync(path);
            co_return co_await s.list(path);
        });
    }
    std::optional<zookeeper::node_data> get(const std::string& path) {
        return done(
            [&](zookeeper::session& s) -> asio::awaitable<std::optional<zookeeper::node_data>> {
                co_return co_await s.get(path);
            });
    }
    bool remove(const std::string& path) {
        return done([&](zookeeper::session& s) -> asio::awaitable<bool> {
            const auto got = co_await s.remove(path);
            co_return got == zookeeper::session::removal::removed;
        });
    }
    /// Creates a node, and the missing nodes above it.
    std::string make(const std::string& path, zookeeper::node_mode mode,
                     const std::string& data = {}) {
        zookeeper::session::creation got = create(path, mode, data);
        if (got.why == zookeeper::session::refusal::no_parent) {
            make(path.substr(0, path.rfind('/')), zookeeper::node_mode::container);
            got = create(path, mode, data);
        }
        return got.node.path;
    }
    /// Deletes a node and all nodes below it.
    void erase(const std::string& path) {
        for (const std::string& each : list(path).value_or(std::vector<std::string>{}))
            erase(path + '/' + each);
        remove(path);
    }

private:
    store_context context() {
        return {.executor = loop_.io().get_executor(),
                .time = time_,
                .random = [] { return std::uint64_t{0}; },
                .client = {},
                .label = {},
                .poll_bound = std::chrono::seconds{5},
                .tell = [](const event&) {}};
    }
    loop_thread loop_;
    runtime::real_clock time_{loop_.io().get_executor()};
    std::unique_ptr<zookeeper::session> session_;
};

} // namespace holdfast::support
