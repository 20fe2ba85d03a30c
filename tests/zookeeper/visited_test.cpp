// SPDX-License-Identifier: Apache-2.0
// Calls that the calling thread executes itself inside the client's monitor, so that it sends
// requests and reads replies itself.
#include "fake_server.hpp"
#include "runtime/monitor.hpp"
#include "support/driven_loop.hpp"
#include "support/loop_thread.hpp"
#include "support/on_each_server.hpp"
#include "support/recorder.hpp"
#include "support/zookeeper_server.hpp"
#include "zookeeper/session.hpp"

#include <holdfast/client.hpp>
#include <holdfast/error.hpp>
#include <holdfast/mutex.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>

#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <pthread.h>
#include <sys/epoll.h>
#include <unistd.h>

namespace holdfast {

using zookeeper::opcode;

/// A session that threads visit. The server runs on a thread of its own; what the client's
/// background does, the test does by hand.
class visited_session : public ::testing::Test, protected support::driven_loop {
protected:
    /// One call, and its result.
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
    /// From here on, the server sends only the replies of the test.
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

namespace {

using SessionVisited = visited_session;

/// On so many files epolls of this process wait for something to read.
std::size_t files_watched() {
    std::size_t count = 0;
    for (const auto& each : std::filesystem::directory_iterator{"/proc/self/fdinfo"}) {
        std::ifstream about{each.path()};
        for (std::string line; std::getline(about, line);) {
            const std::size_t at = line.find("events:");
            if (line.starts_with("tfd:") && at != line.npos)
                count += std::stoul(line.substr(at + 7), nullptr, 16) & EPOLLIN ? 1 : 0;
        }
    }
    return count;
}

TEST_F(SessionVisited, WhoVisitsHasTheAnswerWhenItLeaves) {
    open();
    for (const char* const path : {"/a", "/b", "/c"}) {
        const call mine = visit(path);
        ASSERT_TRUE(mine->done);
        EXPECT_EQ(mine->path, path) << mine->text;
    }
    const call other = ask("/d");
    EXPECT_TRUE(run_until([&] { return other->done.load(); })) << "by the background";
    EXPECT_EQ(other->path, "/d");
    EXPECT_TRUE(visit("/e")->done);
}

// Whatever comes on a file that it watches wakes the background thread.
TEST_F(SessionVisited, WhatAVisitorReadsIsNotTheBackgroundsToWatch) {
    open();
    hold_answers();
    const std::size_t before = files_watched();
    auto mine = wait_elsewhere("/mine");
    EXPECT_TRUE(support::eventually([&] { return files_watched() == before - 1; }));
    answer_next();
    EXPECT_TRUE(support::soon(std::move(mine))->done);
    EXPECT_EQ(files_watched(), before);
}

TEST_F(SessionVisited, NothingIsLeftToTheBackground) {
    open();
    ASSERT_TRUE(visit("/a")->done);
    EXPECT_EQ(settle(), 0u);
    auto use = session_->in_use();
    settle();
    for (int i = 0; i < 3; ++i) {
        use.reset();
        use = session_->in_use();
        ASSERT_TRUE(visit("/b")->done);
        EXPECT_EQ(settle(), 0u) << "nor because the session is used again";
    }
}

TEST_F(SessionVisited, WhoReadsHearsForTheBackgroundToo) {
    open();
    hold_answers();
    const call other = ask("/other");
    settle();
    ASSERT_TRUE(has_asked(1));
    auto mine = wait_elsewhere("/mine");
    answer_next();
    answer_next();
    EXPECT_EQ(support::soon(std::move(mine))->path, "/mine");
    EXPECT_FALSE(other->done) << "it is not the visitor's to run";
    settle();
    EXPECT_TRUE(other->done);
    EXPECT_EQ(other->path, "/other");
}

TEST_F(SessionVisited, WhatComesWhenNobodyReadsAnyMoreIsTheBackgroundsToHear) {
    open();
    hold_answers();
    auto mine = wait_elsewhere("/mine");
    const call other = ask("/other");
    settle();
    ASSERT_TRUE(has_asked(2));
    answer_next();
    EXPECT_TRUE(support::soon(std::move(mine))->done);
    answer_next();
    EXPECT_TRUE(run_until([&] { return other->done.load(); }));
    EXPECT_EQ(other->path, "/other");
}

TEST_F(SessionVisited, TheReaderLeavesItToAnotherVisitor) {
    open();
    hold_answers();
    auto first = wait_elsewhere("/first");
    auto second = wait_elsewhere("/second");
    auto third = wait_elsewhere("/third");
    answer_next();
    EXPECT_EQ(support::soon(std::move(first))->path, "/first");
    answer_next();
    EXPECT_EQ(support::soon(std::move(second))->path, "/second");
    answer_next();
    EXPECT_EQ(support::soon(std::move(third))->path, "/third") << "the background has done nothing";
}

TEST_F(SessionVisited, WhoWaitsForNothingIsNotKept) {
    open();
    hold_answers();
    runtime::inline_call here{entrance_};
    here.wait_for_nothing();
    const call mine = begin_on(here, "/a");
    EXPECT_TRUE(has_asked(1)) << "but it has sent it";
    EXPECT_FALSE(mine->done);
}

TEST_F(SessionVisited, WhoIsInterruptedLeavesItsRequestToTheBackground) {
    open();
    hold_answers();
    for (const bool reads : {true, false}) {
        const int before = asked_;
        std::future<call> reader;
        if (!reads)
            reader = wait_elsewhere("/reader");
        std::promise<runtime::inline_call*> came;
        auto waits = std::async(std::launch::async, [&] {
            runtime::inline_call here{entrance_};
            came.set_value(&here);
            return begin_on(here, "/mine");
        });
        runtime::inline_call* const there = came.get_future().get();
        ASSERT_TRUE(has_asked(before + (reads ? 1 : 2)));
        {
            const runtime::inline_call here{entrance_};
            there->interrupt();
        }
        const call mine = support::soon(std::move(waits));
        EXPECT_FALSE(mine->done);
        while (!held_.empty())
            answer_next();
        EXPECT_TRUE(run_until([&] { return mine->done.load(); }));
        EXPECT_EQ(mine->path, "/mine");
        if (reader.valid()) {
            EXPECT_EQ(support::soon(std::move(reader))->path, "/reader");
        }
    }
}

TEST_F(SessionVisited, WhatIsTooLongToBeSentAtOnceIsSentByTheBackground) {
    open();
    const std::string long_path = "/" + std::string(2'000'000, 'x');
    auto mine = visit_elsewhere(long_path);
    EXPECT_TRUE(run_until([&] { return support::is_ready(mine); }));
    const call told = mine.get();
    EXPECT_TRUE(run_until([&] { return told->done.load(); }));
    EXPECT_EQ(told->path, long_path) << told->text;
    EXPECT_TRUE(visit("/a")->done);
}

TEST_F(SessionVisited, ManyAtOnceAllHaveTheirOwnAnswers) {
    constexpr int threads = 16, calls = 200;
    open();
    std::atomic<int> ended = 0, wrong = 0;
    std::vector<std::thread> all;
    for (int i = 0; i < threads; ++i)
        all.emplace_back([&, i] {
            for (int k = 0; k < calls; ++k) {
                const std::string path = "/" + std::to_string(i) + "/" + std::to_string(k);
                call mine;
                while (!mine) { // not while too much of the others' is under way
                    if (runtime::inline_call here{entrance_})
                        mine = begin_on(here, path);
                    else
                        std::this_thread::yield();
                }
                wrong += !mine->done || mine->path != path;
            }
            ++ended;
        });
    std::vector<call> others;
    EXPECT_TRUE(run_until([&] {
        if (others.size() < 100)
            others.push_back(ask("/other/" + std::to_string(others.size())));
        return ended == threads;
    }));
    for (std::thread& each : all)
        each.join();
    for (std::size_t i = 0; i < others.size(); ++i) {
        EXPECT_TRUE(run_until([&] { return others[i]->done.load(); }));
        EXPECT_EQ(others[i]->path, "/other/" + std::to_string(i));
    }
    EXPECT_EQ(wrong, 0);
}

TEST(ClientOfManyThreads, HasItsLocksOverTlsToo) {
    std::unique_ptr<support::zookeeper_server> server;
    support::make_or_skip([&] {
        support::zookeeper_server::options how;
        how.tls = true;
        server = std::make_unique<support::zookeeper_server>(support::zookeeper(), how);
    });
    if (!server)
        return;
    client home{"zk://127.0.0.1:" + std::to_string(server->tls_port()) +
                "?tls=yes&tls_ca_file=" + server->certificates().file()};
    constexpr int threads = 8, calls = 25;
    int counted = 0; // guarded by the lock and nothing else
    std::vector<std::thread> all;
    for (int i = 0; i < threads; ++i)
        all.emplace_back([&, i] {
            mutex one{home, "one"}, own{home, "own-" + std::to_string(i)};
            for (int k = 0; k < calls; ++k) {
                const std::scoped_lock both{own, one};
                ++counted;
            }
        });
    for (std::thread& each : all)
        each.join();
    EXPECT_EQ(counted, threads * calls);
}

// How the wait of a thread that visits the client ends where no answer comes.

using namespace std::chrono_literals;

using SessionVisitedInVain = visited_session;

TEST_F(SessionVisitedInVain, WhoeverClosesTheClientEndsItsWait) {
    open();
    hold_answers();
    auto first = wait_elsewhere("/reads");
    auto second = wait_elsewhere("/sleeps");
    {
        const runtime::inline_call here{entrance_};
        session_->close();
    }
    EXPECT_EQ(support::soon(std::move(first))->code, errc::closed);
    EXPECT_EQ(support::soon(std::move(second))->code, errc::closed);
}

TEST_F(SessionVisitedInVain, AnAnswerThatComesTooLateIsUnknown) {
    how_.command_timeout = 200ms;
    open();
    hold_answers();
    auto first = wait_elsewhere("/reads");
    auto second = wait_elsewhere("/sleeps");
    EXPECT_TRUE(run_until([&] { return support::is_ready(first) && support::is_ready(second); }));
    EXPECT_EQ(first.get()->code, errc::outcome_unknown);
    EXPECT_EQ(second.get()->code, errc::outcome_unknown);
}

TEST_F(SessionVisitedInVain, TheEndOfTheConnectionEndsItsWait) {
    open();
    const auto use = session_->in_use();
    settle();
    hold_answers();
    auto first = wait_elsewhere("/reads");
    auto second = wait_elsewhere("/sleeps");
    at_server([this] {
        server_.improvises = nullptr;
        server_.drop_connections();
    });
    EXPECT_TRUE(run_until([&] { return support::is_ready(first) && support::is_ready(second); }));
    EXPECT_EQ(first.get()->code, errc::outcome_unknown);
    EXPECT_EQ(second.get()->code, errc::outcome_unknown);
    EXPECT_TRUE(run_until([&] { return session_->state().connected; })) << "it connects again";
    EXPECT_TRUE(visit("/again")->done);
}

/// A pipe. The thread that has the signal stands still until something can be read here.
std::array<int, 2> stands_still{};
void stand_still(int) {
    char any = 0;
    (void)!::read(stands_still[0], &any, 1);
}

// It may have a low priority, and others keep it from every core.
TEST_F(SessionVisitedInVain, AReaderThatHasNoTurnDelaysOthersByAHeartbeatAtMost) {
    how_.session_timeout = 6s;
    open();
    hold_answers();
    ASSERT_EQ(::pipe(stands_still.data()), 0);
    const auto before = std::signal(SIGUSR1, stand_still);
    std::atomic<pthread_t> thread{};
    auto mine = std::async(std::launch::async, [&] {
        thread = ::pthread_self();
        return visit("/mine");
    });
    ASSERT_TRUE(has_asked(1));
    ::pthread_kill(thread, SIGUSR1);
    const call other = ask("/other");
    settle();
    EXPECT_TRUE(has_asked(2));
    answer_next();
    answer_next();
    EXPECT_TRUE(run_until([&] { return other->done.load(); }));
    EXPECT_EQ(other->path, "/other") << other->text;
    EXPECT_FALSE(support::is_ready(mine));
    EXPECT_EQ(::write(stands_still[1], "x", 1), 1);
    EXPECT_EQ(support::soon(std::move(mine))->path, "/mine");
    std::signal(SIGUSR1, before);
    ::close(stands_still[0]);
    ::close(stands_still[1]);
}

TEST_F(SessionVisitedInVain, TheEndIsSeenWhenNobodyReads) {
    open();
    ASSERT_TRUE(visit("/a")->done);
    at_server([this] { server_.drop_connections(); });
    EXPECT_TRUE(run_until([&] { return told_.count(event_kind::disconnected) == 1; }));
}

} // namespace
} // namespace holdfast
