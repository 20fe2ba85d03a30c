// SPDX-License-Identifier: Apache-2.0
// A calling thread that runs its operation inside the client's monitor: no other thread is inside,
// and it runs only its own operation.
#include "runtime/blocking.hpp"
#include "runtime/monitor.hpp"
#include "support/eventually.hpp"

#include <boost/asio/dispatch.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>

#include <future>
#include <optional>
#include <thread>

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace holdfast::runtime {
namespace {

using support::is_ready;
using support::soon;

/// One end is read, and hung up on by an interruption.
class socket_pair final : public interruptible {
public:
    socket_pair() { EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends_), 0); }
    ~socket_pair() {
        ::close(ends_[0]);
        ::close(ends_[1]);
    }
    void interrupt() noexcept override { ::shutdown(ends_[0], SHUT_RDWR); }

    ssize_t read() noexcept {
        pollfd end{.fd = ends_[0], .events = POLLIN, .revents = 0};
        char byte = 0;
        return ::poll(&end, 1, 10'000) == 1 ? ::recv(ends_[0], &byte, 1, 0) : -1;
    }

private:
    int ends_[2];
};

class InlineCall : public ::testing::Test {
protected:
    InlineCall() { entrance_.welcome(1); }
    ~InlineCall() override {
        busy_.reset();
        background_.join();
    }

    /// Something that the background thread is given, and whether it has come to it.
    std::future<std::thread::id> in_background() {
        auto ran = std::make_shared<std::promise<std::thread::id>>();
        asio::post(entrance_.executor(), [ran] { ran->set_value(std::this_thread::get_id()); });
        return ran->get_future();
    }

    asio::io_context io_{1};
    asio::executor_work_guard<asio::io_context::executor_type> busy_{io_.get_executor()};
    monitor entrance_{io_};
    std::thread background_{[this] { io_.run(); }};
};

TEST_F(InlineCall, RunsWhatItsOwnExecutorIsGiven) {
    bool dispatched = false, posted = false;
    {
        inline_call here{entrance_};
        ASSERT_TRUE(here);
        EXPECT_EQ(inline_call::here(entrance_), &here);
        asio::post(here.executor(), [&] { posted = true; });
        asio::dispatch(here.executor(), [&] { dispatched = true; });
        EXPECT_TRUE(dispatched);
        EXPECT_FALSE(posted) << "within the call that posts it";
    }
    EXPECT_TRUE(posted);
    EXPECT_EQ(inline_call::here(entrance_), nullptr);
}

TEST_F(InlineCall, LeavesEverythingElseToTheBackgroundWhichWaitsOutside) {
    std::future<std::thread::id> other;
    {
        inline_call here{entrance_};
        other = in_background();
        asio::dispatch(entrance_.executor(),
                       [&] { EXPECT_EQ(inline_call::here(entrance_), nullptr); });
        EXPECT_FALSE(is_ready(other));
    }
    EXPECT_EQ(soon(std::move(other)), background_.get_id());
}

TEST_F(InlineCall, OthersMayEnterWhileItIsOutside) {
    socket_pair ends;
    inline_call here{entrance_};
    here.run_outside(ends,
                     [this]() noexcept { EXPECT_EQ(soon(in_background()), background_.get_id()); });
    const auto next = in_background();
    EXPECT_FALSE(is_ready(next)) << "it is inside again";
}

TEST_F(InlineCall, WhoeverIsInsideSeesWhetherItIsTheInlineCaller) {
    socket_pair ends;
    inline_call here{entrance_};
    EXPECT_EQ(entrance_.inline_caller(), &here);
    here.run_outside(ends, [this]() noexcept {
        std::promise<const inline_call*> seen;
        asio::post(entrance_.executor(), [&] { seen.set_value(entrance_.inline_caller()); });
        EXPECT_EQ(soon(seen.get_future()), nullptr);
    });
    EXPECT_EQ(entrance_.inline_caller(), &here);
}

TEST_F(InlineCall, WhatItWaitsForOutsideCanBeInterrupted) {
    socket_pair ends;
    inline_call here{entrance_};
    asio::post(entrance_.executor(), [&here] { here.interrupt(); });
    ssize_t size = -1;
    here.run_outside(ends, [&]() noexcept { size = ends.read(); });
    EXPECT_EQ(size, 0);
    here.interrupt(); // inside it waits for nothing
}

TEST_F(InlineCall, WhatItLeavesBehindIsTheBackgroundsToFinish) {
    asio::any_io_executor of_inline_call;
    {
        inline_call here{entrance_};
        of_inline_call = here.executor();
    }
    std::promise<std::thread::id> ran;
    asio::post(of_inline_call, [&ran] { ran.set_value(std::this_thread::get_id()); });
    EXPECT_EQ(soon(ran.get_future()), background_.get_id());
}

TEST_F(InlineCall, NobodyMayEnterWhoIsNotWelcome) {
    const std::optional<monitor::load> busy{std::in_place, &entrance_};
    const inline_call here{entrance_};
    EXPECT_FALSE(here);
    EXPECT_EQ(inline_call::here(entrance_), nullptr);
}

TEST_F(InlineCall, IsOfItsOwnMonitorAlone) {
    monitor other{io_};
    other.welcome(1);
    const inline_call here{entrance_};
    EXPECT_EQ(inline_call::here(other), nullptr);
    {
        inline_call there{other}; // code of another client, on this client's inline caller
        ASSERT_TRUE(there);
        EXPECT_EQ(inline_call::here(other), &there);
        EXPECT_EQ(inline_call::here(entrance_), &here);
        bool ran = false;
        asio::dispatch(there.executor(), [&] { ran = true; });
        EXPECT_TRUE(ran);
    }
    EXPECT_EQ(inline_call::here(other), nullptr);
    EXPECT_EQ(inline_call::here(entrance_), &here);
}

TEST_F(InlineCall, OfTheSameThreadIsNotMadeTwice) {
    const inline_call here{entrance_};
    entrance_.welcome(2);
    const inline_call again{entrance_};
    EXPECT_TRUE(here);
    EXPECT_FALSE(again) << "it would wait for itself";
    EXPECT_EQ(inline_call::here(entrance_), &here);
}

TEST_F(InlineCall, AMonitorIsKnownByItsExecutor) {
    EXPECT_EQ(monitor::of(entrance_.executor()), &entrance_);
    EXPECT_EQ(monitor::of(io_.get_executor()), nullptr);
    EXPECT_FALSE(entrance_.runs_here());
}

class AnswerWait : public ::testing::Test {
protected:
    AnswerWait() { EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends_), 0); }
    ~AnswerWait() override {
        ::close(ends_[0]);
        ::close(ends_[1]);
    }
    void say_something() { EXPECT_EQ(::send(ends_[1], "x", 1, 0), 1); }
    bool hears() {
        char byte = 0;
        return ::recv(ends_[0], &byte, 1, MSG_DONTWAIT) == 1;
    }
    int ends_[2];
};

TEST_F(AnswerWait, ReturnsWhenItHasCome) {
    for (const auto polling : {std::chrono::microseconds{0}, std::chrono::microseconds{100}}) {
        answer_wait wait{polling};
        say_something();
        EXPECT_TRUE(wait.wait(ends_[0], std::chrono::minutes{1}, [this] { return hears(); }));
    }
}

TEST_F(AnswerWait, GivesUpWhenTimeoutIsOver) {
    answer_wait wait{std::chrono::microseconds{100}};
    EXPECT_FALSE(wait.wait(ends_[0], duration{1}, [this] { return hears(); }));
}

TEST_F(AnswerWait, AsksOnlyWhenSomethingHasComeIfItMayNotPoll) {
    answer_wait wait{std::chrono::microseconds{0}};
    int asked = 0;
    const auto hears_it = [&] {
        ++asked;
        return hears();
    };
    EXPECT_FALSE(wait.wait(ends_[0], duration{1}, hears_it));
    EXPECT_EQ(asked, 0);
}

TEST_F(AnswerWait, AnEndIsSomething) {
    answer_wait wait{std::chrono::microseconds{0}};
    ::shutdown(ends_[1], SHUT_RDWR);
    EXPECT_TRUE(wait.wait(ends_[0], std::chrono::minutes{1}, [] { return true; }));
}

} // namespace
} // namespace holdfast::runtime
