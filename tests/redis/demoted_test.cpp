// SPDX-License-Identifier: Apache-2.0
// A server without Sentinels becomes a replica, or its host name leads to another server, while a
// lock is held, waited for or released.
#include "named_pair.hpp"
#include "node_fixture.hpp"
#include "support/on_each_server.hpp"
#include "support/recorder.hpp"

#include <holdfast/holdfast.hpp>

#include <boost/asio/use_future.hpp>

#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using support::eventually;
using support::soon;
using support::thrown_by;
using ::testing::HasSubstr;

class DemotedServer : public ::testing::TestWithParam<support::server_binary> {
protected:
    using redis_server = support::redis_server;

    void SetUp() override {
        support::make_or_skip([this] { pair_.emplace(GetParam()); });
    }

    holdfast::options how(const redis::options& where) const {
        holdfast::options made;
        made.store = redis::make_store(where);
        made.lease_time = 9s;
        made.unavailable_timeout = support::far_too_long;
        made.observer = told_;
        return made;
    }
    holdfast::options by_name() const { return how(pair_->by_name()); }
    holdfast::options by_address() const { return how(pair_->by_address()); }

    redis_server& old() { return pair_->old(); }
    redis_server& next() { return pair_->next(); }
    static bool has(redis_server& at, const std::string& name) {
        return at.command({"EXISTS", name}).integer == 1;
    }
    static std::int64_t listeners(redis_server& at, const std::string& name) {
        const std::string channel = "redisson_lock__channel:{" + name + "}";
        return at.command({"PUBSUB", "NUMSUB", channel}).items.at(1).integer;
    }
    /// Returns the connections of the library at this server, the oldest first.
    static std::vector<std::string> clients(redis_server& at) {
        std::vector<std::string> ids;
        std::istringstream all{at.command({"CLIENT", "LIST"}).text};
        for (std::string line; std::getline(all, line);)
            if (line.find(" name=holdfast ") != line.npos)
                ids.push_back(line.substr(3, line.find(' ') - 3));
        return ids;
    }
    bool told(event_kind kind) const {
        return eventually([&] { return told_->count(kind) > 0; });
    }
    static auto end_of(const lease& held) {
        return std::chrono::steady_clock::now() + held.remaining();
    }
    bool is_renewed(const lease& held) const {
        return eventually([&, end = end_of(held)] { return end_of(held) > end + 300ms; });
    }

    // The ways in which the next one becomes the primary, and the name leads there.
    void by_failover() {
        pair_->failover();
        pair_->lead_to(next());
    }
    void by_hand() {
        pair_->promote(next());
        pair_->lead_to(next());
        pair_->follow(old(), next());
    }
    void by_name_alone() {
        pair_->promote(next());
        pair_->lead_to(next()); // and the old one takes whatever it is asked for
    }
    void by_death() {
        pair_->promote(next());
        pair_->lead_to(next());
        old().stop();
    }

    /// A hold, a wait and a release through all that.
    void expect_to_follow(const std::function<void()>& change) {
        client home{by_name()}, other{by_name()};
        mutex ours{home, "L"}, theirs{other, "L"}, free{home, "free"};
        for (int i = 0; i < 20; ++i) // so that there are blocking connections, too
            const std::scoped_lock here{free};
        lease held = soon(ours.async_lock(asio::use_future));
        auto waiting = theirs.async_lock(asio::use_future);
        ASSERT_TRUE(eventually([&] { return listeners(old(), "L") == 1; }));
        pair_->await_replica();
        change();
        ASSERT_TRUE(eventually([&] { return told_->count(event_kind::moved) == 2; }));
        EXPECT_EQ(told_->last(event_kind::moved)->name, pair_->address_of(next()));
        EXPECT_TRUE(is_renewed(held));
        for (int i = 0; i < 20; ++i) {
            const std::scoped_lock here{free};
            EXPECT_TRUE(has(next(), "free"));
        }
        ASSERT_TRUE(eventually([&] { return listeners(next(), "L") == 1; }));
        held.unlock();
        const lease granted = soon(std::move(waiting));
        EXPECT_TRUE(has(next(), "L"));
        EXPECT_EQ(told_->count(event_kind::lost), 0u);
    }

    const std::shared_ptr<support::recorder> told_ = std::make_shared<support::recorder>();
    std::optional<named_pair> pair_;
};
HOLDFAST_ON_EACH_SERVER(DemotedServer);

TEST_P(DemotedServer, IsLeftByItsNameAfterFailover) {
    expect_to_follow([&] { by_failover(); });
}

TEST_P(DemotedServer, IsLeftByItsNameAfterReplicaof) {
    expect_to_follow([&] { by_hand(); });
}

TEST_P(DemotedServer, IsLeftByItsNameThoughItGoesOnAsAPrimary) {
    expect_to_follow([&] { by_name_alone(); });
}

TEST_P(DemotedServer, IsLeftByItsNameWhenItDies) {
    expect_to_follow([&] { by_death(); });
}

TEST_P(DemotedServer, IsLeftByAllConnectionsWhenOneFindsTheOther) {
    redis::options unchecked = pair_->by_name();
    unchecked.address_check = 1h;
    client home{how(unchecked)}, other{how(unchecked)};
    mutex lock{home, "L"}, theirs{other, "L"}, free{home, "free"};
    const lease held = soon(lock.async_lock(asio::use_future));
    ASSERT_TRUE(eventually([&] { // until there is a blocking connection, too
        const std::scoped_lock here{free};
        return clients(old()).size() >= 2;
    }));
    const std::vector<std::string> of_home = clients(old());
    auto waiting = theirs.async_lock(asio::use_future);
    ASSERT_TRUE(eventually([&] { return listeners(old(), "L") == 1; }));
    const std::vector<std::string> all = clients(old());
    ASSERT_GE(all.size(), of_home.size() + 2) << "the shared one, and one that listens";
    pair_->await_replica();
    pair_->promote(next());
    pair_->lead_to(next());
    old().command({"CLIENT", "KILL", "ID", of_home.front()});
    old().command({"CLIENT", "KILL", "ID", all.at(of_home.size())});
    EXPECT_TRUE(eventually([&] { return clients(old()).empty(); }));
    EXPECT_TRUE(eventually([&] { return told_->count(event_kind::moved) == 2; }));
    ASSERT_TRUE(eventually([&] { return listeners(next(), "L") == 1; }));
    EXPECT_TRUE(is_renewed(held));
}

// By its address there is nowhere to go: it is waited for.

TEST_P(DemotedServer, ThatBecomesThePrimaryAgainHasWhatWasHeld) {
    holdfast::options lasting = by_address();
    lasting.lease_time = 10s; // for two failovers
    client home{lasting};
    mutex lock{home, "L"};
    lease held = soon(lock.async_lock(asio::use_future));
    pair_->await_replica();
    pair_->failover();
    ASSERT_TRUE(told(event_kind::disconnected)) << "a renewal was refused";
    EXPECT_THAT(told_->last(event_kind::disconnected)->text, HasSubstr("READONLY"));
    pair_->failover(next(), old());
    EXPECT_TRUE(is_renewed(held));
    EXPECT_EQ(told_->count(event_kind::lost), 0u);
    held.unlock();
    EXPECT_TRUE(eventually([&] { return !has(old(), "L"); }));
}

TEST_P(DemotedServer, ThatStaysOneEndsTheHoldWithItsTermAndGrantsNothing) {
    holdfast::options brief = by_address();
    brief.unavailable_timeout = 100ms;
    client home{brief};
    mutex lock{home, "L"}, another{home, "M"};
    const lease held = soon(lock.async_lock(asio::use_future));
    pair_->await_replica();
    pair_->promote(next());
    pair_->follow(old(), next());
    EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
    // The lost token compares the validity with the clock. The observer is notified a moment later.
    ASSERT_TRUE(eventually([&] { return told_->count(event_kind::lost) > 0; }));
    EXPECT_EQ(told_->last(event_kind::lost)->cause, event_cause::term_ended);
    const auto why = thrown_by([&] { another.lock(); });
    EXPECT_EQ(why.code, errc::unreachable) << why.text;
    EXPECT_FALSE(has(next(), "M"));
}

TEST_P(DemotedServer, ToWhichAReleaseComesIsAskedAgainWhenItIsThePrimary) {
    redis::options hasty = pair_->by_address();
    hasty.command_timeout = 500ms; // for so long a release is waited for
    holdfast::options lasting = how(hasty);
    lasting.lease_time = 1min;
    client home{lasting}, other{lasting};
    mutex lock{home, "L"}, theirs{other, "L"};
    lease held = soon(lock.async_lock(asio::use_future));
    auto waiting = theirs.async_lock(asio::use_future);
    ASSERT_TRUE(eventually([&] { return listeners(old(), "L") == 1; }));
    pair_->await_replica();
    pair_->failover();
    held.unlock();
    ASSERT_TRUE(told(event_kind::disconnected));
    EXPECT_TRUE(has(next(), "L"));
    EXPECT_FALSE(support::is_ready(waiting));
    pair_->failover(next(), old());
    const lease granted = soon(std::move(waiting));
    EXPECT_TRUE(has(old(), "L"));
    EXPECT_FALSE(granted.lost().stop_requested());
}

// A server that is not the primary any more, and a server whose replies are invalid. A client that
// stays on such a connection would get errors or wrong replies for ever.

using ::testing::AllOf;

class NodeDemoted : public on_fake_server {
protected:
    static constexpr const char* readonly = "-READONLY You can't write against a replica.\r\n";

    void promote(bool primary) {
        server_.says["ROLE"] = primary ? "*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n"
                                       : "*3\r\n$5\r\nslave\r\n$1\r\nh\r\n:1\r\n";
    }
};

TEST_F(NodeDemoted, ARefusalToWriteEndsTheConnectionAndTheObserverIsTold) {
    ask();
    server_.says["EVALSHA"] = readonly;
    const auto refused = ask();
    EXPECT_EQ(refused->code, make_error_code(store_errc::read_only));
    EXPECT_EQ(refused->code, errc::unreachable) << "it was not carried out";
    EXPECT_FALSE(server_.last().open);
    ASSERT_EQ(told_.count(event_kind::disconnected), 1u);
    EXPECT_THAT(told_.last(event_kind::disconnected)->text,
                AllOf(HasSubstr("lost: READONLY"), HasSubstr(server_.path())));
}

TEST_F(NodeDemoted, TheNextConnectionIsAskedForItsRoleBeforeAnythingElse) {
    ask();
    server_.says["EVALSHA"] = readonly;
    ask();
    promote(false);
    const auto still = ask();
    pass(1s);
    EXPECT_EQ(still->code, make_error_code(store_errc::read_only));
    EXPECT_THAT(still->text, HasSubstr("ROLE"));
    EXPECT_TRUE(server_.last().asked.empty());
    promote(true); // the name leads to the new primary by now
    server_.says["EVALSHA"] = ":1\r\n";
    const auto well = ask();
    pass(2s);
    EXPECT_EQ(well->answer.integer, 1);
    EXPECT_EQ(told_.count(event_kind::reconnected), 1u);
}

TEST_F(NodeDemoted, SoDoesAReplicaWithoutItsPrimary) {
    server_.says["EVALSHA"] = "-MASTERDOWN Link with MASTER is down\r\n";
    EXPECT_EQ(ask()->code, make_error_code(store_errc::master_down));
    EXPECT_FALSE(server_.last().open);
}

TEST_F(NodeDemoted, SoDoesAServerBefore7WhichNamesTheScriptFirst) {
    server_.says["EVALSHA"] = "-ERR Error running script (call to f_1): @user_script:1: "
                              "@user_script: 1: -READONLY You can't write against a replica.\r\n";
    EXPECT_EQ(ask()->code, make_error_code(store_errc::read_only));
    EXPECT_FALSE(server_.last().open);
}

TEST_F(NodeDemoted, WhatWasUnblockedMayHaveBeenCarriedOut) {
    server_.says["EVALSHA"] = "-UNBLOCKED force unblock, instance state changed\r\n";
    EXPECT_EQ(ask()->code, errc::outcome_unknown);
    EXPECT_FALSE(server_.last().open);
}

TEST_F(NodeDemoted, AnswersToOthersThatComeTooLateTellItAsWell) {
    server_.says.erase("EVALSHA");
    ask();
    pass(3s);
    server_.last().send(readonly);
    settle();
    EXPECT_FALSE(server_.last().open);
}

TEST_F(NodeDemoted, WhatIsOpenBehindIsUnknownAndWhatIsQueuedWaitsForTheNext) {
    server_.says.erase("EVALSHA");
    const auto one = ask(), behind = ask();
    server_.last().send(readonly);
    settle();
    EXPECT_EQ(one->code, errc::unreachable);
    EXPECT_EQ(behind->code, errc::outcome_unknown);
    server_.says["EVALSHA"] = ":1\r\n";
    const auto next = ask();
    pass(1s);
    EXPECT_EQ(next->answer.integer, 1);
}

TEST_F(NodeDemoted, WithoutLeaveToAskForTheRoleItIsNotStormed) {
    server_.says["ROLE"] = "-NOPERM no\r\n";
    server_.says["EVALSHA"] = readonly;
    const auto end = clock_.now() + 60s;
    while (clock_.now() < end) {
        ask();
        pass(10ms);
    }
    EXPECT_GT(server_.sessions.size(), 25u);
    EXPECT_LT(server_.sessions.size(), 200u);
}

class NodeDistrusted : public on_fake_server {};

TEST_F(NodeDistrusted, EndsTheConnectionOfThatAnswerAndWhatIsOpenThereIsUnknown) {
    const auto odd = ask();
    server_.says.erase("EVALSHA");
    const auto open = ask();
    node().distrust(odd->answer);
    settle();
    EXPECT_EQ(open->code, errc::outcome_unknown);
    EXPECT_FALSE(server_.last().open);
    EXPECT_THAT(told_.last(event_kind::disconnected)->text, HasSubstr("never gives"));
    server_.says["EVALSHA"] = ":1\r\n";
    const auto next = ask();
    pass(1s);
    EXPECT_EQ(next->answer.integer, 1);
    node().distrust(odd->answer); // of a connection that is over
    settle();
    EXPECT_TRUE(server_.last().open);
}

TEST_F(NodeDistrusted, AnswersBehindItAreNobodysAnyMore) {
    server_.says.erase("EVALSHA");
    auto distrust = [this]() -> asio::awaitable<void> {
        node().distrust(co_await node().call(script, {}, {}));
    };
    asio::co_spawn(io_, distrust(), [](const std::exception_ptr& failed) { EXPECT_FALSE(failed); });
    const auto behind = ask();
    server_.last().send("+what\r\n:1\r\n"); // in one piece
    settle();
    EXPECT_EQ(behind->code, errc::outcome_unknown);
}

TEST_F(NodeDistrusted, AnAnswerOfNoConnectionHarmsNobody) {
    server_.says.erase("ROLE");
    const auto connects = ask();
    node().distrust(redis::reply{});
    settle();
    EXPECT_FALSE(connects->done);
    server_.last().muted = false;
    server_.last().send("*1\r\n$6\r\nmaster\r\n*2\r\n$1\r\n1\r\n$1\r\n2\r\n" + server_.infos());
    node().distrust(redis::reply{});
    settle();
    EXPECT_TRUE(server_.last().open);
}

} // namespace
} // namespace holdfast
