// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fake_server.hpp"
#include "runtime/clock.hpp"
#include "runtime/environment.hpp"
#include "support/clocks.hpp"
#include "support/eventually.hpp"
#include "support/on_each_server.hpp"
#include "support/recorder.hpp"
#include "support/zookeeper_server.hpp"
#include "zookeeper/session.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

namespace holdfast {

using zookeeper::opcode;
using zookeeper::session_news;

/// A session in simulated time, with servers whose replies the test sends. Sent bytes arrive at
/// once, and the clock stands still until the test moves it.
class on_fake_zookeeper : public ::testing::Test {
protected:
    /// One call, and its result.
    template <typename T>
    struct calling {
        bool done = false;
        std::optional<T> answer{};
        error_code code{};
        std::string text{};
        asio::cancellation_signal cancel{};
    };
    template <typename T>
    using call = std::shared_ptr<calling<T>>;

    explicit on_fake_zookeeper() {
        how_.servers = {{server_.path(), 1}};
        how_.session_timeout = duration{6000};
    }

    ~on_fake_zookeeper() override {
        close();
        stop_servers();
        settle();
        EXPECT_EQ(clock_.sleepers(), 0u) << "somebody sleeps on";
        EXPECT_TRUE(io_.stopped()) << "something is still to be done";
    }

    virtual void stop_servers() { server_.stop(); }

    zookeeper::session& session() {
        if (!session_) {
            session_ = zookeeper::make_session(how_, context());
            news_watch_ = session_->on_news([this](session_news what) { news_.push_back(what); });
        }
        return *session_;
    }

    void close() {
        use_.reset();
        if (session_)
            session_->close();
        session_.reset();
    }

    void use() { use_ = session().in_use(); }

    /// Begins, and goes on as far as it gets without time going on.
    template <typename T>
    call<T> begin(asio::awaitable<T> what) {
        auto made = std::make_shared<calling<T>>();
        auto ended = [made](const std::exception_ptr& failed, auto... answer) {
            made->done = true;
            (made->answer.emplace(std::move(answer)), ...);
            note(*made, failed);
        };
        asio::co_spawn(io_, std::move(what),
                       asio::bind_cancellation_slot(made->cancel.slot(), ended));
        settle();
        return made;
    }
    call<bool> begin(asio::awaitable<void> what) { return begin(told(std::move(what))); }

    auto list(std::string path = "/p") { return begin(session().list(std::move(path))); }
    auto create(std::string path = "/p/n") {
        zookeeper::new_node node{std::move(path), "me", zookeeper::node_mode::ephemeral};
        return begin(session().create(std::move(node)));
    }
    auto confirm(std::vector<std::string> paths = {}, time_point answer_by = time_point::max()) {
        return begin(confirmation(session(), std::move(paths), answer_by));
    }
    /// In the manner of a function, and the test goes on only if it worked.
    void open() {
        const auto done = list();
        ASSERT_TRUE(done->done);
        ASSERT_FALSE(done->code) << done->text;
    }

    void lose_connection() {
        server_.drop_connections();
        settle();
    }
    std::int64_t id() { return session().state().id; }
    duration left() { return session().state().alive_until - clock_.now(); }

    void settle() { clock_.run_until(clock_.now()); }
    void pass(duration length) { clock_.run_for(length); }

    store_context context() {
        auto tell = [this](const event& what) { told_.notify(what); };
        return {io_.get_executor(),      clock_, [this] { return random_(); }, {}, "test", {}, tell,
                std::chrono::seconds{30}};
    }

    asio::io_context io_;
    sim::sim_clock clock_{io_};
    fake_zookeeper server_{io_};
    zookeeper::options how_;
    support::recorder told_;
    std::unique_ptr<zookeeper::session> session_;
    std::vector<session_news> news_;
    std::unique_ptr<watch> news_watch_;
    std::shared_ptr<void> use_;
    std::mt19937_64 random_{1};

private:
    static asio::awaitable<std::vector<bool>>
    confirmation(zookeeper::session& at, std::vector<std::string> paths, time_point answer_by) {
        co_return co_await at.confirm(paths, answer_by);
    }

    static asio::awaitable<bool> told(asio::awaitable<void> what) {
        co_await std::move(what);
        co_return true;
    }

    template <typename T>
    static void note(calling<T>& mine, const std::exception_ptr& failed) {
        if (!failed)
            return;
        mine.answer.reset();
        const support::thrown why = support::thrown_of(failed);
        mine.code = why.code;
        mine.text = why.text;
    }
};

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
