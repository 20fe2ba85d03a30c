// SPDX-License-Identifier: Apache-2.0
// How the wait of a thread that visits the client ends where no answer comes.
#include "visited_session.hpp"

#include <holdfast/error.hpp>

#include <array>
#include <csignal>

#include <pthread.h>
#include <unistd.h>

namespace holdfast {
namespace {

using namespace std::chrono_literals;

using SessionVisitedInVain = visited_session;

TEST_F(SessionVisitedInVain, WhoeverClosesTheClientEndsItsWait) {
    open();
    hold_answers();
    auto first = wait_elsewhere("/reads");
    auto second = wait_elsewhere("/sleeps");
    {
        const runtime::visit here{entrance_};
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
