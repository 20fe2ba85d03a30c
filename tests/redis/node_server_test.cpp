// SPDX-License-Identifier: Apache-2.0
// The node on real servers.
#include "channels_fixture.hpp"
#include "node_fixture.hpp"
#include "node_on_server.hpp"

#include <boost/asio/bind_executor.hpp>

#include <algorithm>
#include <deque>
#include <optional>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using redis::argument;
using redis::reply;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr redis::script counting{"count",
                                 "0000000000000000000000000000000000000000", // none has this digest
                                 "return redis.call('incrby', KEYS[1], ARGV[1])"};

class NodeOnServer : public node_on_server {};
HOLDFAST_ON_EACH_SERVER(NodeOnServer);

TEST_P(NodeOnServer, RunsScripts) {
    EXPECT_EQ(call(echo, {}, {std::string_view{"hello"}}).answer.text, "hello");
    EXPECT_EQ(call(echo, {}, {std::string_view{"a\r\n\0b", 5}}).answer.text,
              (std::string{"a\r\n\0b", 5}));
    EXPECT_EQ(call(counting, {"n"}, {std::int64_t{5}}).answer.integer, 5);
    EXPECT_EQ(call(counting, {"n"}, {std::int64_t{-7}}).answer.integer, -2);
}

TEST_P(NodeOnServer, SendsTheTextOnlyWhereItIsNeeded) {
    call(echo, {}, {std::string_view{"x"}});
    server().command({"CONFIG", "RESETSTAT"});
    call(echo, {}, {std::string_view{"x"}});
    call(echo, {}, {std::string_view{"x"}});
    EXPECT_THAT(server().command({"INFO", "commandstats"}).text, HasSubstr("evalsha:calls=2"));
    server().command({"SCRIPT", "FLUSH"});
    EXPECT_EQ(call(echo, {}, {std::string_view{"x"}}).answer.text, "x");
    EXPECT_THAT(server().command({"INFO", "commandstats"}).text, HasSubstr("eval:calls=1"));
}

TEST_P(NodeOnServer, ShowsWhoItIs) {
    call(echo, {}, {std::string_view{"x"}});
    EXPECT_THAT(clients(), HasSubstr("name=a_label "));
}

TEST_P(NodeOnServer, LearnsTheServersClock) {
    const reply said = call_echo().answer;
    const reply shown = server().command({"TIME"});
    const auto now = said.clock->no_later_than(clock_.now());
    ASSERT_TRUE(now);
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(*now).count();
    EXPECT_NEAR(static_cast<double>(seconds), std::stod(shown.items.at(0).text), 3);
}

TEST_P(NodeOnServer, TellsErrorsInTheServersWords) {
    server().command({"SET", "n", "x"});
    const outcome got = call({"", "1", "return redis.call('hget', KEYS[1], 'f')"}, {"n"}, {});
    EXPECT_EQ(got.code, make_error_code(store_errc::wrong_type));
    EXPECT_THAT(got.text, HasSubstr("WRONGTYPE"));
    EXPECT_EQ(call({"", "2", "this is no Lua"}, {}, {}).code, errc::refused);
}

TEST_P(NodeOnServer, AuthenticatesAsAUser) {
    server().command({"ACL", "SETUSER", "me", "on", ">secret", "~*", "&*", "+@all"});
    server().command({"ACL", "SETUSER", "default", "resetpass"});
    how_.user = "me";
    how_.password = "secret";
    EXPECT_EQ(call(echo, {}, {std::string_view{"x"}}).answer.text, "x");
    EXPECT_THAT(clients(), HasSubstr("user=me"));
}

TEST_P(NodeOnServer, SaysThatThePasswordIsWrongOrMissing) {
    server().command({"CONFIG", "SET", "requirepass", "secret"});
    const outcome missing = call(echo, {}, {std::string_view{"x"}});
    EXPECT_EQ(missing.code, make_error_code(store_errc::not_authenticated));
    EXPECT_THAT(missing.text, HasSubstr("NOAUTH"));
    forget_node();
    how_.password = "wrong-one";
    const outcome wrong = call(echo, {}, {std::string_view{"x"}});
    EXPECT_EQ(wrong.code, make_error_code(store_errc::not_authenticated));
    EXPECT_THAT(wrong.text, ::testing::Not(HasSubstr("wrong-one")));
}

TEST_P(NodeOnServer, ARotatedPasswordIsAskedForAtTheNextConnection) {
    std::string current = "first";
    how_.credentials = [&] { return credentials{"me", current}; };
    server().command({"ACL", "SETUSER", "me", "on", ">first", "~*", "&*", "+@all"});
    ASSERT_EQ(call(echo, {}, {std::string_view{"x"}}).answer.text, "x");

    server().command({"ACL", "SETUSER", "me", ">second", "<first"});
    EXPECT_EQ(call(echo, {}, {std::string_view{"x"}}).answer.text, "x"); // who is in stays in
    server().command({"CLIENT", "KILL", "USER", "me"});
    const auto refused = [this] {
        return call(echo, {}, {std::string_view{"x"}}).code ==
               make_error_code(store_errc::not_authenticated);
    };
    EXPECT_TRUE(support::eventually(refused));
    current = "second";
    EXPECT_TRUE(support::eventually(
        [this] { return call(echo, {}, {std::string_view{"x"}}).answer.text == "x"; }));
}

TEST_P(NodeOnServer, SelectsItsDatabase) {
    how_.database = 3;
    call(counting, {"n"}, {std::int64_t{1}});
    EXPECT_EQ(server().command({"EXISTS", "n"}).integer, 0);
    EXPECT_THAT(clients(), HasSubstr("db=3"));
    forget_node();
    how_.database = 9999;
    EXPECT_EQ(call(counting, {"n"}, {std::int64_t{1}}).code, errc::refused);
}

TEST_P(NodeOnServer, DoesWithoutWhatAnACLForbids) {
    server().command({"ACL", "SETUSER", "poor", "on", "nopass", "~*", "resetchannels", "-@all",
                      "+auth", "+eval", "+evalsha", "+incrby", "+subscribe"});
    how_.user = "poor";
    const reply said = call_echo().answer;
    EXPECT_EQ(said.text, "x");
    EXPECT_FALSE(said.clock->known());
    EXPECT_EQ(node().identity("k").id, "");
    const outcome denied = call({"", "3", "return redis.call('get', KEYS[1])"}, {"n"}, {});
    EXPECT_EQ(denied.code, make_error_code(store_errc::no_permission)) << denied.text;
}

TEST_P(NodeOnServer, KnowsWhichServerItIs) {
    call_echo();
    const std::string info = server().command({"INFO", "server"}).text;
    EXPECT_EQ(node().identity("k").id.size(), 40u);
    EXPECT_THAT(info, HasSubstr("run_id:" + node().identity("k").id));
    ASSERT_TRUE(node().identity("k").forgets_before);
    EXPECT_LE(*node().identity("k").forgets_before, clock_.now() + 1s);
}

TEST_P(NodeOnServer, LeavesAServerThatWasDemoted) {
    ASSERT_TRUE(answers());
    server().command({"REPLICAOF", "127.0.0.1", "1"});
    const outcome refused = call(counting, {"n"}, {std::int64_t{1}});
    EXPECT_EQ(refused.code, errc::unreachable) << refused.text;
    EXPECT_EQ(call_echo().code, errc::unreachable) << "a replica is asked for nothing";
    EXPECT_GE(told_.count(event_kind::disconnected), 1u);
    server().command({"REPLICAOF", "NO", "ONE"});
    EXPECT_TRUE(support::eventually([this] { return answers(); }));
    EXPECT_EQ(told_.count(event_kind::reconnected), 1u);
}

TEST_P(NodeOnServer, FindsTheServerAgainThatWasRestarted) {
    call(echo, {}, {std::string_view{"x"}});
    server().restart_empty();
    const auto works = [this] {
        return call(echo, {}, {std::string_view{"x"}}).code == error_code{};
    };
    EXPECT_TRUE(support::eventually(works));
    EXPECT_EQ(told_.count(event_kind::reconnected), 1u);
}

TEST_P(NodeOnServer, ASecondClientTooManyIsToldSo) {
    server().command({"CONFIG", "SET", "maxclients", "1"});
    const outcome got = call(echo, {}, {std::string_view{"x"}});
    EXPECT_EQ(got.code, make_error_code(store_errc::too_many_clients)) << got.text;
    server().command({"CONFIG", "SET", "maxclients", "100"});
}

TEST_P(NodeOnServer, AServerThatStandsStillIsAnUnknownOutcome) {
    how_.command_timeout = 50ms;
    call(echo, {}, {std::string_view{"x"}});
    server().pause();
    EXPECT_EQ(call(echo, {}, {std::string_view{"x"}}).code, errc::outcome_unknown);
    server().resume();
    EXPECT_TRUE(support::eventually(
        [this] { return call(echo, {}, {std::string_view{"x"}}).answer.text == "x"; }));
}

TEST_P(NodeOnServer, HearsWhatIsPublishedAndComesBackWhenItIsThrownOut) {
    const auto wake = clock_.make_alarm();
    const auto subscriber = node().hear(redis::channel_name{"ch"}, *wake);
    int rings = 0;
    bool sure = false, over = false;
    auto listen = [&]() -> asio::awaitable<void> {
        sure = co_await subscriber->confirmed(clock_.now() + support::far_too_long);
        while (!over) {
            co_await wake->wait_until(time_point::max());
            ++rings;
        }
    };
    asio::co_spawn(io_, listen(), [](const std::exception_ptr& failed) { EXPECT_FALSE(failed); });
    ASSERT_TRUE(run_until([&] { return sure; }));
    EXPECT_EQ(server().command({"PUBLISH", "ch", "0"}).integer, 1);
    EXPECT_TRUE(run_until([&] { return rings == 1; }));

    server().command({"CLIENT", "KILL", "TYPE", "pubsub"});
    EXPECT_TRUE(run_until([&] { return rings == 2; })); // by itself, since it may have missed one
    EXPECT_EQ(server().command({"PUBLISH", "ch", "0"}).integer, 1);
    over = true;
    EXPECT_TRUE(run_until([&] { return rings == 3; }));
}

TEST_P(NodeOnServer, ListensWhereItMayAndTellsWhereItMayNot) {
    server().command(
        {"ACL", "SETUSER", "half", "on", "nopass", "~*", "resetchannels", "&yes", "+@all"});
    how_.user = "half";
    const auto wake = clock_.make_alarm();
    const auto no = node().hear(redis::channel_name{"no"}, *wake);
    const auto yes = node().hear(redis::channel_name{"yes"}, *wake);
    std::optional<bool> heard_no, heard_yes;
    auto ask = [&](redis::hearing& subscriber,
                   std::optional<bool>& heard) -> asio::awaitable<void> {
        heard = co_await subscriber.confirmed(clock_.now() + support::far_too_long);
    };
    for (const auto& [subscriber, heard] :
         {std::pair{no.get(), &heard_no}, {yes.get(), &heard_yes}})
        asio::co_spawn(io_, ask(*subscriber, *heard), [](const std::exception_ptr&) {});
    EXPECT_TRUE(run_until([&] { return heard_no && heard_yes; }));
    EXPECT_EQ(heard_no, false);
    EXPECT_EQ(heard_yes, true);
    EXPECT_THAT(told_.last(event_kind::impaired)->text,
                AllOf(HasSubstr("cannot listen to no: NOPERM"), HasSubstr("granted: &no")));
}

// Many calls, and a server that stalls, forgets scripts, says rubbish and hangs up, in an order
// drawn from a seed. Whatever happens: each call ends once and in time, with its own answer or with
// an error, and nothing is left behind.

class NodeInChaos : public on_fake_server, public ::testing::WithParamInterface<unsigned> {
protected:
    NodeInChaos() {
        how_.requests_max = 64;
        server_.improvises = [this](const fake_server::words& request) {
            return answer_to(request);
        };
    }

    std::size_t draw(std::size_t choices) { return dice_() % choices; }

    std::optional<std::string> answer_to(const fake_server::words& request) {
        if (request[0] != "EVALSHA" && request[0] != "EVAL")
            return std::nullopt;
        if (request[0] == "EVALSHA" && draw(4) == 0)
            return "-NOSCRIPT No matching script.\r\n";
        const std::string& key = request.at(3);
        return "$" + std::to_string(key.size()) + "\r\n" + key + "\r\n";
    }

    void do_something() {
        switch (draw(10)) {
        case 0:
        case 1:
        case 2:
            return ask_some(draw(8));
        case 3:
            return pass(duration{draw(20)});
        case 4:
            return pass(duration{draw(2000)});
        case 5:
            return cancel_one();
        default:
            return disturb();
        }
    }

    void ask_some(std::size_t count) {
        for (; count > 0; --count)
            under_way_.push_back({begin(std::to_string(++asked_)), clock_.now()});
        if (draw(2) == 0)
            settle();
    }

    void cancel_one() {
        if (!under_way_.empty())
            under_way_[draw(under_way_.size())].call->cancel.emit(
                asio::cancellation_type::terminal);
    }

    void disturb() {
        if (server_.sessions.empty())
            return;
        auto& session = server_.last();
        switch (draw(11)) {
        case 0:
            return server_.drop_connections();
        case 1:
            if (session.open && session.held.empty()) // and not within an answer
                session.send("?\r\n");
            return;
        case 2:
        case 3:
        case 4:
            session.holds_back = true;
            return;
        case 5:
            server_.stop();
            return server_.start();
        default:
            session.release(draw(2) == 0 ? draw(30) : std::string::npos);
            session.holds_back = session.holds_back && !session.held.empty();
        }
    }

    void check_all() {
        std::erase_if(under_way_, [this](const started& one) {
            const asking& call = *one.call;
            if (!call.done) {
                EXPECT_LT(clock_.now() - one.at, how_.command_timeout) << call.key;
                return false;
            }
            if (!call.code) {
                EXPECT_EQ(call.answer.text, call.key) << "another call's answer";
                ++answered_;
            }
            return true;
        });
    }

    struct started {
        asked call;
        time_point at;
    };
    std::mt19937 dice_{GetParam()};
    std::deque<started> under_way_;
    int asked_ = 0;
    int answered_ = 0;
};

TEST_P(NodeInChaos, EachCallEndsInTimeWithItsOwnAnswer) {
    for (int i = 0; i < 400; ++i) {
        do_something();
        settle();
        check_all();
    }
    // Left in peace, it works again.
    for (const auto& session : server_.sessions) {
        session->holds_back = false;
        session->release();
    }
    pass(10s);
    check_all();
    EXPECT_TRUE(under_way_.empty());
    const auto last = ask("last");
    pass(1s);
    EXPECT_EQ(last->answer.text, "last") << last->text;
    EXPECT_GT(answered_, asked_ / 20) << "chaos is no test if nothing ever works";
}

INSTANTIATE_TEST_SUITE_P(Seeds, NodeInChaos, ::testing::Range(1u, 61u));

// All connections of a client lead to one server: when one of them finds that its name, or a proxy,
// leads to another by now, the others may still be at the old one, and take the same locks there.

using ::testing::ElementsAre;

/// A server whose name leads to another one by now, for who connects.
template <typename Fixture>
class on_changing_server : public Fixture {
protected:
    void lead_elsewhere() {
        this->server_.run_id += "'";
        this->server_.replication_id += "'";
    }
    void deny_info() { this->server_.says["INFO"] = "-NOPERM not for this user\r\n"; }

    std::size_t open_connections() const {
        std::size_t open = 0;
        for (const auto& each : this->server_.sessions)
            open += each->open ? 1 : 0;
        return open;
    }
};

class BlockingConnectionsTogether : public on_changing_server<on_visited_server> {
protected:
    void lose_the_shared_connection() {
        shared().close();
        settle();
        answered_visit(); // which brings it back
        pass(1s);
    }
};

TEST_F(BlockingConnectionsTogether, FollowTheSharedConnectionToAnotherServer) {
    visit_until_there_is_a_lane();
    lead_elsewhere();
    lose_the_shared_connection();
    EXPECT_FALSE(blocking_connection().open);
    EXPECT_EQ(answered_visit()->answer.integer, 1);
    EXPECT_EQ(blocking_connection().asked.size(), 2u);
}

TEST_F(BlockingConnectionsTogether,
       WhatWasSentThereIsUnknownAndEverythingHeldIsAskedForAtTheOtherServer) {
    visit_until_there_is_a_lane();
    lead_elsewhere();
    shared().close();
    settle();
    server_.says.erase("EVALSHA");
    const asked sent = visit();
    settle();
    pass(1s);
    ASSERT_TRUE(sent->done);
    EXPECT_EQ(sent->code, errc::outcome_unknown);
    EXPECT_THAT(doubts_, ElementsAre(true));
}

TEST_F(BlockingConnectionsTogether, StayWhereItIsTheSameServer) {
    visit_until_there_is_a_lane();
    server_.replication_id = "history-2"; // a first replica has come
    lose_the_shared_connection();
    EXPECT_EQ(server_.sessions.size(), 3u);
    EXPECT_TRUE(blocking_connection().open);
}

TEST_F(BlockingConnectionsTogether, FollowOnceWhereNobodyCanTellWhichServerItIs) {
    deny_info();
    visit_until_there_is_a_lane();
    lose_the_shared_connection();
    EXPECT_FALSE(blocking_connection().open);
    const auto brought_back = server_.sessions.back();
    for (int i = 0; i < 20; ++i)
        answered_visit();
    EXPECT_EQ(server_.sessions.size(), 4u) << "and there is a blocking connection again";
    EXPECT_TRUE(brought_back->open);
    EXPECT_EQ(doubts_.size(), 1u);
}

TEST_F(BlockingConnectionsTogether, OneThatIsLedElsewhereMakesAllOthersFollow) {
    answered_visit();
    lead_elsewhere();
    while (server_.sessions.size() < 2)
        answered_visit();
    settle();
    EXPECT_FALSE(shared().open);
    EXPECT_THAT(told_.last(event_kind::disconnected)->text, HasSubstr("another server"));
    answered_visit();
    pass(1s);
    EXPECT_THAT(doubts_, ElementsAre(true));
    EXPECT_EQ(answered_visit()->answer.integer, 1);
}

TEST_F(BlockingConnectionsTogether, AProxyWithSeveralServersBehindItIsNotStormed) {
    holds_ = true;
    server_.improvises = [this](const fake_server::words& said) {
        if (said.front() == "INFO")
            lead_elsewhere();
        return std::optional<std::string>{};
    };
    for (int bursts = 0; bursts < 60; ++bursts) {
        for (int i = 0; i < 6; ++i) // enough for a blocking connection
            answered_visit();
        pass(20s); // which is closed then
    }
    EXPECT_GT(server_.sessions.size(), 60u);
    EXPECT_LT(doubts_.size(), 10u);
}

TEST_F(BlockingConnectionsTogether, WhereNamesAreNeverCheckedNoneIsLeftBecauseOfALane) {
    how_.address_check = 0ms;
    answered_visit();
    lead_elsewhere();
    visit_until_there_is_a_lane();
    EXPECT_TRUE(shared().open);
    EXPECT_TRUE(blocking_connection().open);
}

class OthersTogether : public on_changing_server<on_fake_channels> {
protected:
    OthersTogether() { server_.says["WAIT"] = ":1\r\n"; }

    static redis::call_options confirmed() { return {.replicas = 1, .replicas_within = 900ms}; }
    void lose_the_shared_connection() {
        server_.sessions.front()->close();
        settle();
        const asked next = ask();
        pass(1s);
        EXPECT_EQ(next->answer.integer, 1);
    }
};

TEST_F(OthersTogether, WhoConfirmsFollowsAndSoDoesWhoListensWhichRings) {
    ask();
    ask("k", confirmed());
    auto& one = listen();
    settle();
    lead_elsewhere();
    lose_the_shared_connection();
    EXPECT_FALSE(server_.sessions[1]->open);
    EXPECT_FALSE(server_.sessions[2]->open);
    EXPECT_EQ(one.rings, 1);
    EXPECT_EQ(ask("k", confirmed())->answer.confirmed, 1);
    EXPECT_EQ(open_connections(), 3u);
}

TEST_F(OthersTogether, WhoListensThereAlreadyStays) {
    ask();
    auto& one = listen();
    settle();
    lead_elsewhere();
    server_.drop_connections();
    pass(1s); // who listens comes back by itself
    EXPECT_EQ(one.rings, 1);
    ask();
    pass(1s);
    EXPECT_THAT(doubts_, ElementsAre(true));
    EXPECT_EQ(one.rings, 1);
}

TEST_F(OthersTogether, WhatWaitsForConfirmationIsUnknownAndTheNextIsAskedAtTheOtherServer) {
    ask();
    ask("k", confirmed());
    lead_elsewhere();
    server_.sessions.front()->close();
    settle();
    server_.says.erase("WAIT");
    const asked open = ask("k", confirmed()), queued = ask("k", confirmed());
    ask();
    server_.says["WAIT"] = ":1\r\n";
    pass(1s);
    EXPECT_EQ(open->code, errc::outcome_unknown);
    EXPECT_EQ(queued->answer.confirmed, 1);
    EXPECT_THAT(doubts_, ElementsAre(true));
}

TEST_F(OthersTogether, StayWhereItIsTheSameServer) {
    ask();
    ask("k", confirmed());
    auto& one = listen();
    settle();
    lose_the_shared_connection();
    EXPECT_TRUE(server_.sessions[1]->open);
    EXPECT_TRUE(server_.sessions[2]->open);
    EXPECT_EQ(one.rings, 0);
}

TEST_F(OthersTogether, FollowOnceWhereNobodyCanTellWhichServerItIs) {
    deny_info();
    holds_ = true;
    ask();
    ask("k", confirmed());
    auto& one = listen();
    settle();
    lose_the_shared_connection();
    EXPECT_EQ(one.rings, 1);
    ask("k", confirmed());
    pass(1h);
    EXPECT_LE(server_.sessions.size(), 6u);
    EXPECT_EQ(one.rings, 1);
    EXPECT_EQ(doubts_.size(), 1u);
}

TEST_F(OthersTogether, WhoConfirmsAndIsLedElsewhereMakesAllOthersFollow) {
    holds_ = true;
    ask();
    ask("k", confirmed());
    lead_elsewhere();
    server_.sessions[1]->close();
    settle();
    const asked next = ask("k", confirmed());
    pass(1s);
    EXPECT_FALSE(server_.sessions.front()->open);
    EXPECT_TRUE(next->done);
    EXPECT_THAT(doubts_, ElementsAre(true));
    EXPECT_EQ(ask("k", confirmed())->answer.confirmed, 1);
    EXPECT_EQ(open_connections(), 2u);
}

TEST_F(OthersTogether, OneThatStayedElsewhereIsFoundWhenTheSharedOneHasComeBack) {
    ask();
    server_.sessions.front()->close();
    settle();
    lead_elsewhere(); // for a moment only
    ask("k", confirmed());
    pass(1s);
    EXPECT_EQ(open_connections(), 1u);
    server_.run_id = "run-1";
    server_.replication_id = "history-1";
    ask();
    pass(1s);
    EXPECT_FALSE(server_.sessions[1]->open);
    EXPECT_EQ(doubts_.size(), 1u);
}

} // namespace
} // namespace holdfast
