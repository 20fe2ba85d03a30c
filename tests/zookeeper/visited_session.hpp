// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fake_server.hpp"
#include "runtime/monitor.hpp"
#include "support/driven_loop.hpp"
#include "support/loop_thread.hpp"
#include "support/thrown.hpp"
#include "zookeeper/make_session.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>

#include <atomic>
#include <exception>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace holdfast {

using zookeeper::opcode;

/// A session that threads visit. The server runs on a thread of its own; what the client's
/// background does, the test does by hand.
class visited_session : public ::testing::Test, protected support::driven_loop {
protected:
    /// One call, and what came of it.
    struct calling {
        std::atomic<bool> done = false;
        std::string path{};
        error_code code{};
        std::string text{};
    };
    using call = std::shared_ptr<calling>;

    void SetUp() override { how_.servers = {{server_.path(), 1}}; }

    ~visited_session() override {
        if (session_)
            session_->close();
        session_.reset();
        at_server([this] { server_.stop(); });
        server_loop_.finish();
        run_to_the_end();
        clock_.let_go();
    }

    /// There is a connection from here on.
    void open() {
        store_context home = context();
        home.executor = entrance_.executor();
        session_ = zookeeper::make_session(how_, home);
        entrance_.welcome(20); // more than it would, so that several meet here
        const call first = ask("/first");
        ASSERT_TRUE(run_until([&] { return first->done.load(); }));
        ASSERT_FALSE(first->code) << first->text;
        settle();
    }

    /// How much the background has to do now.
    std::size_t settle() {
        io_.restart();
        return io_.poll();
    }

    /// In the background.
    call ask(std::string path) { return begin(entrance_.executor(), std::move(path)); }
    /// By this thread.
    call visit(std::string path) {
        runtime::inline_call here{entrance_};
        EXPECT_TRUE(here) << "it is not welcome";
        return begin(here.executor(), std::move(path));
    }
    call begin_on(runtime::inline_call& here, std::string path) {
        return begin(here.executor(), std::move(path));
    }
    auto visit_elsewhere(std::string path) {
        return std::async(std::launch::async, [this, path] { return visit(path); });
    }

    /// Likewise, where answers are held: the server has its request when this returns.
    auto wait_elsewhere(std::string path) {
        const int before = asked_;
        auto mine = visit_elsewhere(path);
        support::until("the server has " + path, [&] { return asked_ == before + 1; });
        return mine;
    }

    template <typename Work>
    void at_server(Work work) {
        std::promise<void> done;
        asio::post(server_loop_.io(), [&] {
            work();
            done.set_value();
        });
        done.get_future().wait();
    }
    /// From here on it answers nothing but what it is told to.
    void hold_answers() {
        at_server([this] {
            server_.improvises = [this](const fake_zookeeper::asked& one) {
                if (one.what != opcode::create2)
                    return std::optional<std::string>{};
                held_.push_back(one);
                ++asked_;
                return std::optional<std::string>{""};
            };
        });
    }
    bool has_asked(int number) {
        return support::eventually([&] { return asked_ == number; });
    }
    void answer_next() {
        at_server([this] {
            const auto one = held_.front();
            held_.erase(held_.begin());
            const std::string path{zookeeper::jute_reader{one.body}.text()};
            const std::string body = fake_zookeeper::text(path) + fake_zookeeper::stat();
            server_.last().send(server_.answer(one.number, 0, body));
        });
    }

    support::loop_thread server_loop_;
    fake_zookeeper server_{server_loop_.io()};
    std::vector<fake_zookeeper::asked> held_;
    std::atomic<int> asked_ = 0;
    zookeeper::options how_;
    runtime::monitor entrance_{io_};
    std::unique_ptr<zookeeper::session> session_;

private:
    /// The answer tells whose it is.
    static asio::awaitable<std::string> creation(zookeeper::session& at, std::string path) {
        zookeeper::new_node node{std::move(path), "me", zookeeper::node_mode::ephemeral};
        const auto made = co_await at.create(std::move(node));
        co_return made.node.path;
    }
    call begin(const asio::any_io_executor& where, std::string path) {
        auto made = std::make_shared<calling>();
        auto ended = [made](const std::exception_ptr& failed, std::string told) {
            made->path = std::move(told);
            if (failed) {
                const support::thrown why = support::thrown_of(failed);
                made->code = why.code;
                made->text = why.text;
            }
            made->done = true;
        };
        asio::co_spawn(where, creation(*session_, std::move(path)), ended);
        return made;
    }
};

} // namespace holdfast
