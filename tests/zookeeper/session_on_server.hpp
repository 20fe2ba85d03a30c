// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/clock.hpp"
#include "runtime/environment.hpp"
#include "support/eventually.hpp"
#include "support/on_each_server.hpp"
#include "support/zookeeper_server.hpp"
#include "zookeeper/make_session.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

namespace holdfast {

/// A session in real time, which goes on only while the test runs something: between two calls it
/// is as silent as a program that was stopped.
class running_session {
public:
    explicit running_session(zookeeper::options how, duration lease = std::chrono::seconds{30})
        : session_{zookeeper::make_session(std::move(how), context(lease))}
        , news_watch_{session_->on_news([this](auto what) { news.push_back(what); })} {}
    running_session(const running_session&) = delete;
    ~running_session() {
        use_.reset();
        session_->close();
        io_.restart();
        io_.run_for(std::chrono::seconds{10});
        clock_.let_go();
    }

    zookeeper::session* operator->() { return session_.get(); }
    void use() { use_ = session_->in_use(); }

    /// What it answers; throws what it throws.
    template <typename T>
    T run(asio::awaitable<T> what) {
        std::optional<T> answer;
        std::exception_ptr failed;
        bool done = false;
        asio::co_spawn(io_, std::move(what), [&](const std::exception_ptr& why, T said) {
            failed = why;
            answer = std::move(said);
            done = true;
        });
        run_until([&] { return done; });
        if (failed)
            std::rethrow_exception(failed);
        return std::move(*answer);
    }
    void run(asio::awaitable<void> what) { run(told(std::move(what))); }

    template <typename Predicate>
    void run_until(Predicate holds) {
        const time_point end = runtime::machine_time() + support::far_too_long;
        while (!holds()) {
            if (runtime::machine_time() > end)
                throw std::runtime_error{"nothing came for far too long"};
            io_.restart();
            io_.run_one_for(std::chrono::milliseconds{50});
        }
    }
    void run_for(duration length) {
        const time_point end = runtime::machine_time() + length;
        run_until([&] { return runtime::machine_time() >= end; });
    }

    /// A node that goes with the session. Its path.
    std::string create(std::string path, zookeeper::node_mode mode) {
        return make(std::move(path), mode).node.path;
    }
    zookeeper::session::creation make(std::string path, zookeeper::node_mode mode) {
        zookeeper::new_node node{std::move(path), "me", mode};
        return run(session_->create(node));
    }
    bool has(const std::string& path) { return run(session_->get(path)).has_value(); }

    std::vector<zookeeper::session_news> news;
    std::ptrdiff_t heard(zookeeper::session_news what) const {
        return std::count(news.begin(), news.end(), what);
    }

private:
    static asio::awaitable<bool> told(asio::awaitable<void> what) {
        co_await std::move(what);
        co_return true;
    }

    store_context context(duration lease) {
        return {io_.get_executor(), clock_, runtime::system_random(), {}, "test", {}, {}, lease};
    }

    asio::io_context io_{1};
    runtime::real_clock clock_{io_.get_executor()};
    std::unique_ptr<zookeeper::session> session_;
    std::unique_ptr<watch> news_watch_;
    std::shared_ptr<void> use_;
};

inline zookeeper::options session_options(const std::vector<std::uint16_t>& ports,
                                          duration timeout) {
    zookeeper::options how;
    how.servers.clear();
    for (const std::uint16_t port : ports)
        how.servers.push_back({"127.0.0.1", port});
    how.session_timeout = timeout;
    return how;
}

} // namespace holdfast
