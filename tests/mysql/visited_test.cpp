// SPDX-License-Identifier: Apache-2.0
// Calls that the calling thread executes itself inside the client's monitor, so that it waits for
// the replies itself.
#include "database_on_server.hpp"
#include "runtime/monitor.hpp"

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <future>
#include <string>

namespace holdfast {
namespace {

using namespace std::chrono_literals;

/// By epoll, in this process.
std::size_t files_watched() {
    std::size_t count = 0;
    for (const auto& each : std::filesystem::directory_iterator{"/proc/self/fdinfo"}) {
        std::ifstream about{each.path()};
        for (std::string line; std::getline(about, line);)
            count += line.starts_with("tfd:") ? 1 : 0;
    }
    return count;
}

class DatabaseVisited : public database_with_rows {
protected:
    void SetUp() override {
        how_.connections_max = 2;
        database_with_rows::SetUp();
    }

    /// There is a connection from here on.
    void have_database() {
        store_context home = context();
        home.executor = entrance_.executor();
        database_ = mysql::make_database(how_, home);
        ASSERT_EQ(ask("SELECT 1")->value(), "1");
    }
    asked visit(const std::string& what, bool waits = true) {
        runtime::inline_call here{entrance_};
        EXPECT_TRUE(here) << "it is not welcome";
        if (!waits)
            here.wait_for_nothing();
        return begin_on(here.executor(), {what});
    }
    bool done(const asked& call) {
        return run_until([&] { return call->done; });
    }
    bool server_is_at(const std::string& statement) {
        return support::eventually([&] {
            return server().value("SELECT COUNT(*) FROM information_schema.processlist WHERE "
                                  "STATE='User sleep' AND INFO='" +
                                  statement + "'") == "1";
        });
    }

    runtime::monitor entrance_{io_};
};

TEST_F(DatabaseVisited, WhoVisitsHasTheAnswerWhenItLeaves) {
    have_database();
    for (int i = 0; i < 3; ++i) {
        const asked call = visit("SELECT v FROM t WHERE k = 2");
        ASSERT_TRUE(call->done);
        EXPECT_EQ(call->value(), "20") << call->text;
    }
    EXPECT_EQ(ask("SELECT v FROM t WHERE k = 1")->value(), "10") << "by the background thread";
    EXPECT_TRUE(visit("SELECT 1")->done);
}

// Whatever comes on a file that it watches wakes the background thread.
TEST_F(DatabaseVisited, ItsConnectionIsNotTheBackgroundsToWatch) {
    have_database();
    const std::size_t before = files_watched();
    ASSERT_TRUE(visit("SELECT 1")->done);
    EXPECT_EQ(files_watched(), before - 1);
    ASSERT_EQ(ask("SELECT 7")->value(), "7");
    EXPECT_EQ(files_watched(), before);
}

TEST_F(DatabaseVisited, TheEndOfItsConnectionIsSeenSoon) {
    how_.keep_alive = 1h;
    have_database();
    const asked call = visit("SELECT CONNECTION_ID()");
    server().sql("KILL " + call->value());
    EXPECT_TRUE(run_until([&] { return told_.count(event_kind::disconnected) == 1; }));
}

TEST_F(DatabaseVisited, AnAnswerThatComesTooLateIsUnknown) {
    how_.command_timeout = 200ms;
    have_database();
    const asked call = visit("SELECT SLEEP(30)");
    EXPECT_FALSE(call->done) << "it sleeps as others do when its time is over";
    ASSERT_TRUE(done(call));
    EXPECT_EQ(call->code, errc::outcome_unknown) << call->text;
    EXPECT_EQ(ask("SELECT 7")->value(), "7");
}

TEST_F(DatabaseVisited, WhoWaitsForNothingIsNotKept) {
    have_database();
    const asked call = visit("SELECT SLEEP(0.01)", false);
    EXPECT_FALSE(call->done);
    ASSERT_TRUE(done(call));
    EXPECT_EQ(call->value(), "0") << call->text;
}

TEST_F(DatabaseVisited, WhoFindsNoFreeConnectionSleeps) {
    how_.connections_max = 1;
    have_database();
    how_.connections_max = 2; // for who is welcome
    const asked first = begin({"SELECT SLEEP(0.05)"});
    io_.restart();
    io_.poll();
    entrance_.welcome(2);
    const asked second = visit("SELECT 2");
    EXPECT_FALSE(second->done);
    EXPECT_TRUE(done(first) && done(second));
    EXPECT_EQ(second->value(), "2") << second->text;
}

TEST_F(DatabaseVisited, WhoIsInterruptedLeavesItsRequestToTheBackground) {
    have_database();
    const std::string statement = "SELECT SLEEP(0.5)";
    std::promise<runtime::inline_call*> came;
    auto waits = std::async(std::launch::async, [&] {
        runtime::inline_call here{entrance_};
        came.set_value(&here);
        return begin_on(here.executor(), {statement});
    });
    runtime::inline_call* const there = came.get_future().get();
    ASSERT_TRUE(server_is_at(statement));
    {
        const runtime::inline_call here{entrance_};
        there->interrupt();
    }
    const asked call = waits.get();
    EXPECT_FALSE(call->done);
    ASSERT_TRUE(done(call));
    EXPECT_EQ(call->value(), "0") << call->text;
    EXPECT_EQ(told_.count(event_kind::disconnected), 0u);
    EXPECT_TRUE(visit("SELECT 1")->done) << "an interruption is over then";
}

TEST_F(DatabaseVisited, WhoeverClosesTheClientEndsItsWait) {
    have_database();
    const std::string statement = "SELECT SLEEP(31)";
    auto waits = std::async(std::launch::async, [&] { return visit(statement); });
    ASSERT_TRUE(server_is_at(statement));
    {
        runtime::inline_call here{entrance_};
        database().close();
    }
    const asked call = waits.get();
    ASSERT_TRUE(call->done);
    EXPECT_EQ(call->code, errc::closed) << call->text;
}

} // namespace
} // namespace holdfast
