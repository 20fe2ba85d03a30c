// SPDX-License-Identifier: Apache-2.0
// Calls of scripts on a server without faults, from the executor and from calling threads inside
// the monitor.
#include "channels_fixture.hpp"
#include "node_fixture.hpp"

#include <ostream>
#include <stdexcept>

namespace holdfast {
namespace {

// Calls of scripts on a server that does what it should.

using namespace std::chrono_literals;
using redis::reply;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class NodeCalls : public on_fake_server {};

TEST_F(NodeCalls, ConnectOnlyWhenFirstAsked) {
    node();
    settle();
    EXPECT_TRUE(server_.sessions.empty());
    const auto one = ask();
    EXPECT_TRUE(one->done);
    EXPECT_EQ(one->answer.integer, 1);
    ask();
    EXPECT_EQ(server_.sessions.size(), 1u);
}

TEST_F(NodeCalls, SendTheScriptsDigestItsKeysAndArguments) {
    const auto one = ask("some key");
    EXPECT_THAT(server_.last().asked,
                ElementsAre(ElementsAre("EVALSHA", std::string{script.sha1}, "1", "some key")));
}

TEST_F(NodeCalls, NothingPassesBeforeTheSetUpIsAnsweredWell) {
    how_.password = "secret";
    how_.database = 3;
    server_.says.erase("SELECT");
    const auto one = ask();
    EXPECT_FALSE(one->done);
    EXPECT_EQ(server_.set_up, 7u); // AUTH, SELECT, CLIENT SETNAME, ROLE, TIME, INFO (2) in one go
    EXPECT_TRUE(server_.last().asked.empty());
    server_.last().send("+OK\r\n+OK\r\n*1\r\n$6\r\nmaster\r\n");
    settle();
    EXPECT_TRUE(server_.last().asked.empty());
    server_.last().send("*2\r\n$1\r\n1\r\n$1\r\n2\r\n" + server_.infos());
    settle();
    EXPECT_EQ(server_.last().asked.size(), 1u);
    server_.last().send(":1\r\n");
    settle();
    EXPECT_TRUE(one->done);
}

TEST_F(NodeCalls, AreAnsweredInTheOrderOfAsking) {
    server_.says.erase("EVALSHA");
    const auto first = ask("a"), second = ask("b"), third = ask("c");
    server_.last().send(":1\r\n:2\r\n");
    settle();
    EXPECT_EQ(first->answer.integer, 1);
    EXPECT_EQ(second->answer.integer, 2);
    EXPECT_FALSE(third->done);
    server_.last().send(":3\r\n");
    settle();
    EXPECT_EQ(third->answer.integer, 3);
}

TEST_F(NodeCalls, ThatComeTogetherGoOutTogether) {
    ask();
    server_.last().bursts = 0;
    for (int i = 0; i < 100; ++i)
        begin();
    settle();
    EXPECT_EQ(server_.last().asked.size(), 101u);
    EXPECT_EQ(server_.last().bursts, 1u);
}

TEST_F(NodeCalls, ThatAnswersBringAboutGoOutTogetherToo) {
    ask();
    server_.says.erase("EVALSHA");
    server_.last().bursts = 0;
    // Each asks again as soon as it is answered.
    auto twice = [this]() -> asio::awaitable<void> {
        const std::string_view keys[] = {"again"};
        co_await node().call(script, keys, {});
        co_await node().call(script, keys, {});
    };
    for (int i = 0; i < 10; ++i)
        asio::co_spawn(io_, twice(), [](const std::exception_ptr&) {});
    settle();
    EXPECT_EQ(server_.last().bursts, 1u);
    std::string answers;
    for (int i = 0; i < 10; ++i)
        answers += ":1\r\n";
    server_.last().send(answers);
    settle();
    EXPECT_EQ(server_.last().asked.size(), 21u);
    EXPECT_EQ(server_.last().bursts, 2u);
}

TEST_F(NodeCalls, SendTheTextToAServerThatDoesNotKnowTheScript) {
    server_.says["EVALSHA"] = "-NOSCRIPT No matching script.\r\n";
    server_.says["EVAL"] = ":7\r\n";
    EXPECT_EQ(ask()->answer.integer, 7);
    EXPECT_THAT(server_.last().asked,
                ElementsAre(ElementsAre("EVALSHA", std::string{script.sha1}, "1", "k"),
                            ElementsAre("EVAL", std::string{script.text}, "1", "k")));
}

TEST_F(NodeCalls, AskForTheTextOnlyOnce) {
    server_.says["EVALSHA"] = server_.says["EVAL"] = "-NOSCRIPT No matching script.\r\n";
    const auto one = ask();
    EXPECT_EQ(one->code, make_error_code(store_errc::other));
    EXPECT_EQ(server_.last().asked.size(), 2u);
}

TEST_F(NodeCalls, ThatAreSentAgainHaveNoMoreTimeThanOthers) {
    server_.says.erase("EVALSHA");
    const auto one = ask();
    pass(2'999ms);
    server_.last().send("-NOSCRIPT No matching script.\r\n");
    settle();
    EXPECT_EQ(server_.count_asked("EVAL"), 1u);
    const auto later = ask();
    pass(1ms);
    EXPECT_EQ(one->code, errc::outcome_unknown);
    EXPECT_FALSE(later->done);
    server_.last().send(":1\r\n:2\r\n");
    settle();
    EXPECT_EQ(later->answer.integer, 2);
}

TEST_F(NodeCalls, ThrowWhatTheServerSays) {
    server_.says["EVALSHA"] = "-WRONGTYPE Operation against a key\r\n";
    const auto one = ask();
    EXPECT_EQ(one->code, make_error_code(store_errc::wrong_type));
    EXPECT_EQ(one->code, errc::refused);
    EXPECT_THAT(one->text, HasSubstr("WRONGTYPE Operation against a key"));
}

TEST_F(NodeCalls, PassOnAnErrorInsideAnArray) {
    server_.says["EVALSHA"] = "*2\r\n:1\r\n-OOM no\r\n";
    const auto one = ask();
    EXPECT_EQ(one->answer.items.at(1).type, reply::kind::error);
}

TEST_F(NodeCalls, SayWhenTheyWereSentAndAnswered) {
    server_.says.erase("EVALSHA");
    const time_point asked_at = clock_.now();
    const auto one = ask();
    pass(250ms);
    server_.last().send(":1\r\n");
    settle();
    EXPECT_EQ(one->answer.sent_at, asked_at);
    EXPECT_EQ(one->answer.received_at, asked_at + 250ms);
}

TEST_F(NodeCalls, AreComposedWhenTheyAreSentAndNotWhenTheyQueue) {
    server_.says.erase("TIME");
    const time_point asked_at = clock_.now();
    auto with_deadline = [this](time_point at, reply& answer) -> asio::awaitable<void> {
        const redis::argument arguments[] = {redis::server_deadline{at}};
        answer = co_await node().call(script, {}, arguments);
    };
    reply answer;
    asio::co_spawn(io_, with_deadline(asked_at + 3s, answer),
                   [](const std::exception_ptr& failed) { EXPECT_FALSE(failed); });
    settle();
    pass(500ms); // the set-up takes so long, and only then the server's clock is known
    server_.last().muted = false;
    server_.last().send("*2\r\n$10\r\n1700000000\r\n$1\r\n0\r\n" + server_.infos());
    settle();
    ASSERT_EQ(server_.last().asked.size(), 1u);
    const auto deadline = answer.clock->no_later_than(asked_at + 3s);
    ASSERT_TRUE(deadline);
    EXPECT_EQ(server_.last().asked[0].at(3), std::to_string(deadline->count()));
    EXPECT_EQ(answer.sent_at, asked_at + 500ms);
}

TEST_F(NodeCalls, ForgetTheClockOfTheServerThatWasThereBefore) {
    EXPECT_TRUE(ask()->answer.clock->known());
    server_.drop_connections();
    server_.says["TIME"] = "-NOPERM no\r\n";
    settle();
    pass(2s);
    EXPECT_FALSE(ask()->answer.clock->known());
}

TEST_F(NodeCalls, MayBeOfAnySize) {
    const std::string big(3'000'000, 'x'); // more than any socket takes at once
    const auto first = ask(big), second = ask("small");
    EXPECT_EQ(first->answer.integer, 1);
    EXPECT_EQ(second->answer.integer, 1);
    ASSERT_EQ(server_.last().asked.size(), 2u);
    EXPECT_EQ(server_.last().asked[0].at(3), big);
    EXPECT_EQ(server_.last().asked[1].at(3), "small");
}

TEST_F(NodeCalls, ThatComeDuringALongWriteGoOutBehindIt) {
    ask();
    server_.says.erase("EVALSHA"); // no answer comes that would set things going again
    server_.last().deaf = true;
    ask("the last one it hears");
    ask(std::string(3'000'000, 'x'));
    ask("behind");
    EXPECT_EQ(server_.last().asked.size(), 2u);
    server_.last().hear_again();
    settle();
    ASSERT_EQ(server_.last().asked.size(), 4u);
    EXPECT_EQ(server_.last().asked.back().at(3), "behind");
}

TEST_F(NodeCalls, PutAnswersTogetherFromPieces) {
    server_.says.erase("EVALSHA");
    const auto one = ask();
    for (const char byte : std::string{"*2\r\n$5\r\nhello\r\n:4\r\n"}) {
        EXPECT_FALSE(one->done);
        server_.last().send({byte});
        settle();
    }
    EXPECT_EQ(one->answer.items.at(0).text, "hello");
    EXPECT_EQ(one->answer.items.at(1).integer, 4);
}

TEST_F(NodeCalls, AreNotMoreThanMayWait) {
    how_.requests_max = 3;
    server_.says.erase("EVALSHA");
    const auto a = ask(), b = ask(), c = ask(), too_many = ask();
    EXPECT_EQ(too_many->code, errc::overloaded);
    EXPECT_FALSE(a->done || b->done || c->done);
    server_.last().send(":1\r\n");
    settle();
    EXPECT_FALSE(ask()->done);
}

// A command connection that has nothing to say for long, and a peer that vanished meanwhile:
// half-open connections tell nobody.

class IdleCommandConnection : public on_fake_server {
protected:
    IdleCommandConnection() {
        server_.says["PING"] = "+PONG\r\n";
        server_.says["ROLE"] = "-NOPERM not for this user\r\n"; // else it asks that instead
    }
    std::size_t pings() const { return server_.count_asked("PING"); }

    void expect_first_ping_after(duration quiet) {
        ask();
        pass(quiet - 1ms);
        EXPECT_EQ(pings(), 0u);
        pass(1ms);
        EXPECT_EQ(pings(), 1u);
    }
};

TEST_F(IdleCommandConnection, AsksAThirdOfALeaseAfterItLastHeardWhetherTheServerIsThere) {
    lease_time_ = 60s;
    expect_first_ping_after(20s);
    pass(20s);
    EXPECT_EQ(pings(), 2u);
    pass(1h);
    EXPECT_EQ(pings(), 182u);
    EXPECT_EQ(server_.sessions.size(), 1u);
    EXPECT_EQ(ask()->answer.integer, 1);
}

TEST_F(IdleCommandConnection, AsksNothingWhileItHears) {
    for (int i = 0; i < 20; ++i) {
        ask();
        pass(9s);
    }
    EXPECT_EQ(pings(), 0u);
}

TEST_F(IdleCommandConnection, AsksNoMoreOftenThanAnAnswerMayTake) {
    lease_time_ = 30ms;
    expect_first_ping_after(3s);
}

TEST_F(IdleCommandConnection, AsksEveryMinuteHoweverLongALeaseIs) {
    lease_time_ = 24h;
    expect_first_ping_after(1min);
}

TEST_F(IdleCommandConnection, FindsADeadServerWithinALease) {
    server_.says.erase("PING");
    ask();
    pass(10s + 5'999ms);
    EXPECT_TRUE(server_.last().open);
    pass(1ms);
    EXPECT_FALSE(server_.last().open);
    EXPECT_THAT(told_.last(event_kind::disconnected)->text, HasSubstr("did not answer within"));
    pass(1h);
    EXPECT_EQ(server_.sessions.size(), 1u); // nobody wants anything of the next one yet
    EXPECT_EQ(ask()->answer.integer, 1);    // and whoever does finds no dead one in the way
    EXPECT_EQ(server_.sessions.size(), 2u);
}

TEST_F(IdleCommandConnection, AsksForTheRoleInsteadWhereItIsTold) {
    server_.says["ROLE"] = "*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n";
    ask();
    pass(30s);
    EXPECT_EQ(server_.count_asked("ROLE"), 3u);
    EXPECT_EQ(pings(), 0u);
    EXPECT_EQ(server_.sessions.size(), 1u);
}

TEST_F(IdleCommandConnection, LeavesAServerThatHasBecomeAReplica) {
    server_.says["ROLE"] = "*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n";
    ask();
    pass(9s);
    server_.says["ROLE"] = "*3\r\n$5\r\nslave\r\n$1\r\nh\r\n:1\r\n";
    pass(1s);
    EXPECT_FALSE(server_.last().open);
    EXPECT_THAT(told_.last(event_kind::disconnected)->text, HasSubstr("has become a replica"));
    EXPECT_EQ(ask()->done, false);
    pass(1s);
    EXPECT_EQ(server_.count_asked("EVALSHA"), 1u) << "the next one is asked for its role first";
}

TEST_F(IdleCommandConnection, TakesARefusalForASignOfLife) {
    server_.says["PING"] = "-NOPERM this user has no permissions to run the 'ping' command\r\n";
    ask();
    pass(1h);
    EXPECT_GT(pings(), 300u);
    EXPECT_EQ(server_.sessions.size(), 1u);
}

TEST_F(IdleCommandConnection, ItsQuestionTakesNobodysAnswer) {
    server_.says.erase("PING");
    ask();
    pass(11s);
    ASSERT_EQ(pings(), 1u);
    const auto behind = ask();
    EXPECT_FALSE(behind->done);
    server_.last().send("+PONG\r\n:7\r\n");
    settle();
    EXPECT_EQ(behind->answer.integer, 7);
    pass(8s);
    EXPECT_TRUE(server_.last().open);
}

TEST_F(IdleCommandConnection, AsksTheNextConnectionAnew) {
    ask();
    pass(9s);
    server_.drop_connections();
    pass(5s);
    ask();
    pass(9'999ms);
    EXPECT_EQ(pings(), 0u);
    pass(1ms);
    EXPECT_EQ(pings(), 1u);
}

// Logins of connections, and passwords that change.

using ::testing::Not;

class NodeCredentials : public on_fake_channels {
protected:
    NodeCredentials() {
        server_.improvises = [this](const fake_server::words& request) {
            return request[0] == "AUTH" ? std::optional{authenticate(request)} : std::nullopt;
        };
    }

    std::string authenticate(const fake_server::words& request) {
        seen_.push_back(request);
        return request.back() == valid_ ? "+OK\r\n"
                                        : "-WRONGPASS invalid username-password pair\r\n";
    }

    /// Another connection; the subscriber's too, if somebody listens.
    void reconnect() {
        server_.drop_connections();
        pass(5s);
        ask();
    }

    std::string valid_ = "first";
    std::vector<fake_server::words> seen_;
};

TEST_F(NodeCredentials, TheProviderIsAskedForEachConnection) {
    int times = 0;
    how_.credentials = [&] { return credentials{"me", "pass" + std::to_string(++times)}; };
    valid_ = "pass1";
    EXPECT_FALSE(ask()->code);
    EXPECT_EQ(times, 1);
    valid_ = "pass2";
    listen();
    settle();
    EXPECT_EQ(times, 2);
    valid_ = "pass3";
    all_.front()->subscriber.reset();
    reconnect();
    EXPECT_THAT(seen_,
                ElementsAre(ElementsAre("AUTH", "me", "pass1"), ElementsAre("AUTH", "me", "pass2"),
                            ElementsAre("AUTH", "me", "pass3")));
    EXPECT_FALSE(ask()->code);
}

TEST_F(NodeCredentials, TheOptionsWinOverTheProvider) {
    how_.credentials = [] { return credentials{"provided", "provided"}; };
    how_.user = "me";
    valid_ = "provided";
    EXPECT_FALSE(ask()->code);
    close();
    how_.user.clear();
    how_.password = valid_ = "mine";
    EXPECT_FALSE(ask()->code);
    EXPECT_THAT(seen_, ElementsAre(ElementsAre("AUTH", "me", "provided"),
                                   ElementsAre("AUTH", "provided", "mine")));
}

TEST_F(NodeCredentials, WithNothingToSayNothingIsSaid) {
    how_.credentials = [] { return credentials{}; };
    EXPECT_FALSE(ask()->code);
    EXPECT_TRUE(seen_.empty());
}

TEST_F(NodeCredentials, AProviderThatFailsIsUnreachableAndAskedAgain) {
    bool broken = true;
    how_.credentials = [&] {
        return broken ? throw std::runtime_error{"the vault is sealed"} : credentials{"me", valid_};
    };
    const auto failed = ask();
    EXPECT_EQ(failed->code, make_error_code(errc::unreachable));
    EXPECT_THAT(failed->text, HasSubstr("the credential provider failed: the vault is sealed"));
    EXPECT_TRUE(seen_.empty());
    broken = false;
    pass(2s);
    EXPECT_FALSE(ask()->code);
}

TEST_F(NodeCredentials, ARotatedPasswordIsRefusedUntilTheProviderHasTheNewOne) {
    std::string at_hand = "first";
    how_.credentials = [&] { return credentials{"me", at_hand}; };
    EXPECT_FALSE(ask()->code);
    listen();
    settle();
    valid_ = "second";
    reconnect();
    pass(5s);
    const auto refused = ask();
    EXPECT_EQ(refused->code, make_error_code(store_errc::not_authenticated));
    at_hand = "second";
    pass(5s);
    EXPECT_FALSE(ask()->code);
    confirm(*all_.front(), 0ms);
    EXPECT_EQ(all_.front()->confirmed, true);
}

TEST_F(NodeCredentials, NoPasswordIsInWhatIsTold) {
    how_.credentials = [] { return credentials{"me", "hunter2"}; };
    listen();
    const auto refused = ask();
    EXPECT_THAT(refused->text, HasSubstr("WRONGPASS"));
    EXPECT_THAT(refused->text, Not(HasSubstr("hunter2")));
    server_.says.erase("CLIENT"); // a set-up that stalls tells what it waits for
    valid_ = "hunter2";
    pass(5s);
    const auto stalled = ask();
    pass(5s);
    EXPECT_THAT(stalled->text, HasSubstr("CLIENT SETNAME"));
    EXPECT_FALSE(told_.all().empty());
    for (const support::told& each : told_.all())
        EXPECT_THAT(each.text, Not(HasSubstr("hunter2")));
}

// Calls to what is no Redis, or one that sends us elsewhere: each ends in time, typed and worded,
// and a server that makes sense again is used again.

struct stranger {
    const char* label;
    std::string says; ///< where an answer should be; empty: nothing
    error_code code;
    const char* words;
    bool stays = false; ///< the connection, since what it said was an answer
};

void PrintTo(const stranger& who, std::ostream* to) {
    *to << who.label;
}

constexpr std::size_t longest_answer = 100'000;

std::string nested_without_end() {
    std::string text;
    for (int depth = 0; depth < 4000; ++depth)
        text += "*1\r\n";
    return text;
}

std::vector<stranger> strangers() {
    const error_code garbage = make_error_code(store_errc::protocol);
    const error_code elsewhere = make_error_code(store_errc::wrong_address);
    const error_code down = make_error_code(store_errc::cluster_down);
    const char* const no_redis = "not the Redis protocol";
    return {
        {"Http", "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n", garbage, no_redis},
        {"Smtp", "220 mail.example ESMTP\r\n", garbage, no_redis},
        {"Binary", std::string{"\x16\x03\x03\x00\x02", 5}, garbage, no_redis},
        {"NegativeLength", "$-5\r\n", garbage, no_redis},
        {"NegativeCount", "*-7\r\n", garbage, no_redis},
        {"LengthThatIsNone", "$many\r\n", garbage, no_redis},
        {"CountOfBillions", "*4294967296\r\n", garbage, ""},
        {"EndlessLine", "+" + std::string(longest_answer + 1, 'x'), garbage, "more than"},
        {"EndlessNesting", nested_without_end(), garbage, no_redis},
        {"Moved", "-MOVED 866 10.0.0.1:6379\r\n", elsewhere, "MOVED 866", true},
        {"Ask", "-ASK 866 10.0.0.1:6379\r\n", elsewhere, "ASK 866", true},
        {"ClusterDown", "-CLUSTERDOWN Hash slot not served\r\n", down, "CLUSTERDOWN", true},
        {"Silence", "", make_error_code(errc::outcome_unknown), "did not answer", true},
        {"HalfAnAnswer", "$10\r\nabc", make_error_code(errc::outcome_unknown), "did not answer",
         true},
        {"LengthOfExabytes", "$9223372036854775807\r\nabc", make_error_code(errc::outcome_unknown),
         "did not answer", true},
    };
}

class Strangers : public on_fake_server, public ::testing::WithParamInterface<stranger> {
protected:
    Strangers() {
        how_.reply_bytes_max = longest_answer;
        server_.says["EVALSHA"] = ":1\r\n";
    }
    void meet_stranger() {
        server_.improvises = [](const fake_server::words& said) -> std::optional<std::string> {
            return said.front() == "EVALSHA" ? std::optional{GetParam().says} : std::nullopt;
        };
    }
    void meet_redis() { server_.improvises = nullptr; }
};

INSTANTIATE_TEST_SUITE_P(All, Strangers, ::testing::ValuesIn(strangers()),
                         [](const auto& which) { return std::string{which.param.label}; });

TEST_P(Strangers, EndACallInTimeAndAreLeftIfTheyMakeNoSense) {
    EXPECT_FALSE(ask()->code);
    meet_stranger();
    const auto met = ask();
    pass(how_.command_timeout);
    ASSERT_TRUE(met->done);
    EXPECT_EQ(met->code, GetParam().code) << met->text;
    EXPECT_THAT(met->text, HasSubstr(GetParam().words));
    EXPECT_EQ(server_.last().open, GetParam().stays);
}

TEST_P(Strangers, AreForgottenWhenAServerIsThereAgain) {
    meet_stranger();
    const auto met = ask();
    pass(3 * how_.command_timeout); // who owes an answer for long is left too
    ASSERT_TRUE(met->done);
    meet_redis();
    const auto answered = ask();
    pass(how_.backoff_max);
    EXPECT_FALSE(answered->code) << answered->text;
    EXPECT_EQ(answered->answer.integer, 1);
}

// Calls by threads that visit the client, and so go by blocking connections: what happens to the
// shared connection concerns the blocking connections, and the other way round.

class NodeVisited : public on_visited_server {
protected:
    void lose_the_shared_connection() {
        server_.last().close();
        settle();
        pass(1s);
    }
};

TEST_F(NodeVisited, AnAnswerThatNobodyWaitsForIsReadInTheBackground) {
    visit_until_there_is_a_lane();
    const asked sent = visit();
    EXPECT_FALSE(sent->done);
    pass(1ms);
    EXPECT_EQ(sent->answer.integer, 1);
    EXPECT_EQ(blocking_connection().asked.size(), 2u);
}

// BlockingConnections do not notice when the server goes, and cast no doubt on what is held.

TEST_F(NodeVisited, WhoUsesALaneBringsTheSharedConnectionBack) {
    visit_until_there_is_a_lane();
    shared().close();
    pass(1s);
    EXPECT_EQ(server_.sessions.size(), 2u) << "nobody asks";
    answered_visit();
    pass(1s);
    ASSERT_EQ(server_.sessions.size(), 3u);
    EXPECT_TRUE(server_.last().asked.empty());
    EXPECT_EQ(doubts_.size(), 1u);
}

TEST_F(NodeVisited, ItIsBroughtBackOnceForEachWhoAsks) {
    visit_until_there_is_a_lane();
    shared().close();
    settle();
    answered_visit();
    lose_the_shared_connection(); // which was not there before the pause was over
    ASSERT_EQ(server_.sessions.size(), 3u);
    lose_the_shared_connection();
    EXPECT_EQ(server_.sessions.size(), 3u);
    answered_visit();
    pass(2s);
    answered_visit(); // while it is there
    lose_the_shared_connection();
    EXPECT_EQ(server_.sessions.size(), 4u);
}

TEST_F(NodeVisited, AServerThatTakesNoConnectionsIsNotTriedForEverBecauseOfALane) {
    visit_until_there_is_a_lane();
    server_.says["CLIENT"] = "-LOADING Redis is loading the dataset in memory\r\n";
    shared().close();
    pass(1s);
    visit();
    pass(1h);
    EXPECT_EQ(server_.sessions.size(), 3u);
}

TEST_F(NodeVisited, AServerThatWasDemotedIsLeftByItsLanesToo) {
    visit_until_there_is_a_lane();
    server_.says["EVALSHA"] = "-READONLY You can't write against a read only replica.\r\n";
    EXPECT_EQ(ask()->code, make_error_code(store_errc::read_only));
    EXPECT_FALSE(blocking_connection().open);
}

TEST_F(NodeVisited, ADemotionThatALaneHearsOfEndsTheSharedConnection) {
    visit_until_there_is_a_lane();
    server_.says["EVALSHA"] = "-READONLY You can't write against a read only replica.\r\n";
    EXPECT_EQ(answered_visit()->code, make_error_code(store_errc::read_only));
    settle();
    EXPECT_FALSE(shared().open);
    EXPECT_FALSE(blocking_connection().open);
}

TEST_F(NodeVisited, AnAnswerThatMakesNoSenseEndsTheLaneItCameBy) {
    visit_until_there_is_a_lane();
    const asked odd = answered_visit();
    node().distrust(odd->answer);
    settle();
    EXPECT_FALSE(blocking_connection().open);
    EXPECT_TRUE(shared().open);
}

TEST_F(NodeVisited, AScriptThatTheServerForgotIsSentAgainWithItsText) {
    visit_until_there_is_a_lane();
    server_.says["EVALSHA"] = "-NOSCRIPT No matching script.\r\n";
    server_.says["EVAL"] = ":7\r\n";
    EXPECT_EQ(answered_visit()->answer.integer, 7);
}

TEST_F(NodeVisited, AnAnswerThatIsOwedForTooLongEndsTheLane) {
    visit_until_there_is_a_lane();
    server_.says.erase("EVALSHA");
    const asked sent = visit();
    pass(how_.command_timeout - 1ms);
    EXPECT_FALSE(sent->done);
    pass(2ms);
    EXPECT_EQ(sent->code, errc::outcome_unknown);
    EXPECT_FALSE(blocking_connection().open);
}

TEST_F(NodeVisited, ALaneDoesNotOweAnswersWithoutEnd) {
    how_.blocking_connections_max = 100; // so many calls may be under way
    how_.command_timeout = 50ms;         // which a thread waits for in real time
    visit_until_there_is_a_lane();
    server_.says.erase("EVALSHA");
    std::vector<asked> sent;
    while (sent.size() < 64)
        sent.push_back(visit());
    EXPECT_FALSE(sent.back()->done);
    EXPECT_EQ(blocking_connection().asked.size(), 1u + 64);
    const asked too_many = visit();
    EXPECT_EQ(too_many->code, errc::outcome_unknown) << "it should have waited for its answer";
    EXPECT_THAT(too_many->text, HasSubstr("did not answer within 50 ms"));
}

TEST_F(NodeVisited, ARequestHasItsOwnLimitOnALaneToo) {
    how_.command_timeout = 50ms;
    visit_until_there_is_a_lane();
    EXPECT_EQ(visit({.answer_by = clock_.now()}, true)->code, errc::unreachable);
    EXPECT_EQ(blocking_connection().asked.size(), 1u);
}

} // namespace
} // namespace holdfast
