// SPDX-License-Identifier: Apache-2.0
#include "net/failure.hpp"
#include "redis/client/connection.hpp"
#include "redis/client/requests.hpp"
#include "redis/client/resp.hpp"

#include <limits>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::redis {
namespace {

using namespace std::literals;
using std::chrono::microseconds;

constexpr script greet{"greet", "0123456789012345678901234567890123456789", "return 1"};

std::string composed(const request& asked, const runtime::remote_clock& clock = {}) {
    std::string out;
    asked.compose(composer{out}, clock);
    return out;
}

TEST(Composer, GivesEachWordItsLength) {
    std::string out = "before";
    composer{out}.request({"SET", "a b\r\n"sv, "\0"sv, ""});
    EXPECT_EQ(out, "before*4\r\n$3\r\nSET\r\n$5\r\na b\r\n\r\n$1\r\n\0\r\n$0\r\n\r\n"s);
}

TEST(Composer, WritesEveryNumber) {
    std::string out;
    composer to{out};
    to.number(0);
    to.number(std::numeric_limits<std::int64_t>::min());
    to.number(std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ(out, "$1\r\n0\r\n$20\r\n-9223372036854775808\r\n$19\r\n9223372036854775807\r\n");
}

TEST(Request, IsAnEvalshaWithKeysAndArguments) {
    const std::string_view keys[] = {"k1", "k2"};
    const argument arguments[] = {std::int64_t{-7}, std::string_view{"x"}};
    EXPECT_EQ(composed({greet, keys, arguments}),
              "*7\r\n$7\r\nEVALSHA\r\n$40\r\n0123456789012345678901234567890123456789\r\n"
              "$1\r\n2\r\n$2\r\nk1\r\n$2\r\nk2\r\n$2\r\n-7\r\n$1\r\nx\r\n");
}

TEST(Request, ToAServerThatDoesNotKnowTheScriptCarriesItsText) {
    request asked{greet, {}, {}};
    asked.with_text = true;
    EXPECT_EQ(composed(asked), "*3\r\n$4\r\nEVAL\r\n$8\r\nreturn 1\r\n$1\r\n0\r\n");
}

TEST(Request, TellsADeadlineByTheServersClock) {
    const argument arguments[] = {server_deadline{time_point{50s}}};
    runtime::remote_clock clock;
    clock.learn(time_point{10s}, time_point{10s}, microseconds{1'000'000'000});
    const std::string out = composed({greet, {}, arguments}, clock);
    EXPECT_NE(out.find(std::to_string(clock.no_later_than(time_point{50s})->count())),
              std::string::npos)
        << out;
}

TEST(Request, SwitchesTheDeadlineOffWhereTheServersClockIsNotKnown) {
    const argument arguments[] = {server_deadline{time_point{50s}}};
    EXPECT_TRUE(composed({greet, {}, arguments}).ends_with("$1\r\n0\r\n$1\r\n0\r\n"));
}

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using stage = request::stage;

constexpr script any{"any", "sha", "text"};

class Pipeline : public ::testing::Test {
protected:
    ~Pipeline() override {
        while (request* left = all_.oldest())
            all_.forget(*left);
    }
    static time_point at(int ms) { return time_point{duration{ms}}; }
    /// Each may wait for ten.
    void ask(request& asked, int now) { all_.ask(asked, at(now), 10ms); }
    request* write(int now = 0) { return all_.next_to_write(at(now)); }

    request a_{any, {}, {}}, b_{any, {}, {}}, c_{any, {}, {}};
    pipeline all_;
};

TEST_F(Pipeline, MatchesAnswersInTheOrderOfWriting) {
    ask(a_, 10);
    ask(b_, 11);
    EXPECT_EQ(write(1), &a_);
    EXPECT_EQ(write(2), &b_);
    EXPECT_EQ(write(), nullptr);
    const auto first = all_.answered();
    ASSERT_TRUE(first);
    EXPECT_EQ(first->asker, &a_);
    EXPECT_EQ(first->sent_at, at(1));
    all_.forget(a_);
    EXPECT_EQ(all_.answered()->asker, &b_);
}

TEST_F(Pipeline, NobodyAskedForAnAnswerToNothing) {
    EXPECT_FALSE(all_.answered());
    ask(a_, 10);
    EXPECT_FALSE(all_.answered()); // it was not even written
}

TEST_F(Pipeline, WhoGivesUpBeforeWritingIsNeverSent) {
    ask(a_, 10);
    ask(b_, 11);
    all_.forget(a_);
    EXPECT_EQ(write(), &b_);
    EXPECT_EQ(all_.size(), 1u);
}

TEST_F(Pipeline, TheAnswerToWhoGaveUpIsNobodysAndShiftsNoOther) {
    ask(a_, 10);
    ask(b_, 11);
    write(1);
    write(2);
    all_.forget(a_);
    EXPECT_EQ(all_.size(), 2u); // the server still owes both
    EXPECT_EQ(all_.owed_since(), at(1));
    EXPECT_EQ(all_.answered()->asker, nullptr);
    EXPECT_EQ(all_.answered()->asker, &b_);
    EXPECT_FALSE(all_.owed_since());
}

TEST_F(Pipeline, TheOldestIsWhoeverAskedFirstWhereverItStands) {
    EXPECT_EQ(all_.oldest(), nullptr);
    ask(a_, 10);
    ask(b_, 11);
    write();
    EXPECT_EQ(all_.oldest(), &a_);
    all_.forget(a_);
    EXPECT_EQ(all_.oldest(), &b_);
}

TEST_F(Pipeline, WhoMustBeSentAgainGoesBeforeWhoAskedLater) {
    ask(a_, 10);
    ask(b_, 11);
    write();
    write();
    ask(c_, 12);
    all_.answered();
    all_.ask_again(a_);
    all_.answered();
    all_.ask_again(b_);
    EXPECT_EQ(all_.oldest(), &a_);
    EXPECT_EQ(write(), &a_);
    EXPECT_EQ(write(), &b_);
    EXPECT_EQ(write(), &c_);
}

TEST_F(Pipeline, WhoHasLessTimeIsTheOldestFirst) {
    request soon{any, {}, {}, {.answer_by = at(5)}}, sooner{any, {}, {}, {.answer_by = at(4)}};
    ask(a_, 0);
    ask(soon, 1);
    ask(sooner, 2);
    EXPECT_EQ(all_.oldest(), &sooner);
    all_.give_up(sooner);
    EXPECT_EQ(all_.oldest(), &soon);
    EXPECT_EQ(soon.deadline, at(5));
    all_.give_up(soon);
    EXPECT_EQ(all_.oldest(), &a_);
    EXPECT_FALSE(all_.owes_what_was_given_up()); // nothing of it was written
}

TEST_F(Pipeline, ALimitBehindTheUsualOneIsNone) {
    request patient{any, {}, {}, {.answer_by = at(1000)}};
    ask(patient, 0);
    EXPECT_EQ(patient.deadline, at(10));
    all_.forget(patient);
}

TEST_F(Pipeline, LimitOfTheSendingEndsWithTheSending) {
    request hurried{any, {}, {}, {.answer_by = at(6)}};
    all_.ask(a_, at(1), 10ms, at(4));
    ask(hurried, 1);
    all_.ask(b_, at(1), 10ms, at(1));
    EXPECT_EQ(a_.deadline, at(4));
    EXPECT_EQ(b_.deadline, at(11)) << "only the server tells that a request is late";
    EXPECT_EQ(all_.oldest(), &a_);
    EXPECT_EQ(write(2), &a_);
    EXPECT_EQ(a_.deadline, at(11));
    EXPECT_EQ(all_.oldest(), &hurried);
    for (request* const each : {&a_, &b_, &hurried})
        all_.forget(*each);
    EXPECT_EQ(all_.oldest(), nullptr);
}

TEST(Request, IsUsefulUntilTheDeadlineInItsArguments) {
    const argument arguments[] = {std::int64_t{1}, server_deadline{time_point{50s}}};
    EXPECT_EQ(deadline_in(arguments).at, time_point{50s});
    EXPECT_EQ(deadline_in({}).at, time_point::max());
}

TEST_F(Pipeline, KnowsThatSomebodyHasGivenUpUntilTheAnswerComes) {
    ask(a_, 0);
    ask(b_, 1);
    write();
    write();
    all_.give_up(b_);
    EXPECT_TRUE(all_.owes_what_was_given_up());
    all_.answered();
    all_.forget(a_);
    EXPECT_TRUE(all_.owes_what_was_given_up());
    all_.answered();
    EXPECT_FALSE(all_.owes_what_was_given_up());
    ask(c_, 2);
    write();
    all_.give_up(c_);
    all_.drop_written();
    EXPECT_FALSE(all_.owes_what_was_given_up());
}

TEST_F(Pipeline, WithTheConnectionGoTheAnswersAndNotTheQueue) {
    ask(a_, 10);
    ask(b_, 11);
    ask(c_, 12);
    write();
    write();
    all_.forget(a_);
    EXPECT_THAT(all_.drop_written(), ElementsAre(&b_));
    EXPECT_EQ(b_.standing, stage::apart);
    EXPECT_FALSE(all_.answered());
    EXPECT_EQ(write(5), &c_); // on the next connection
    EXPECT_EQ(all_.answered()->asker, &c_);
}

TEST_F(Pipeline, WithoutAConnectionTheQueueIsDropped) {
    ask(a_, 10);
    ask(b_, 11);
    write();
    EXPECT_THAT(all_.drop_queued(), ElementsAre(&b_));
    EXPECT_FALSE(all_.anything_queued());
    EXPECT_EQ(all_.oldest(), &a_);
}

using kind = reply::kind;
using ::testing::HasSubstr;
using ::testing::Not;

reply status(std::string text) {
    reply made;
    made.type = kind::status;
    made.text = std::move(text);
    return made;
}
reply error(std::string text) {
    reply made = status(std::move(text));
    made.type = kind::error;
    return made;
}
reply array(std::vector<std::string> texts) {
    reply made;
    made.type = kind::array;
    for (std::string& text : texts) {
        made.items.emplace_back().type = kind::text;
        made.items.back().text = std::move(text);
    }
    return made;
}

reply bulk(std::string words) {
    reply made = status(std::move(words));
    made.type = kind::text;
    return made;
}
/// Returns the replies of a server without faults.
reply good(std::string_view step) {
    return step == "ROLE"             ? array({"master"})
           : step == "TIME"           ? array({"1", "2"})
           : step.starts_with("INFO") ? bulk("")
                                      : status("OK");
}

class Handshake : public ::testing::Test {
protected:
    /// Returns the requests of the handshake, in order.
    std::vector<std::string> steps(purpose what_for = purpose::commands) {
        handshake greeting{how_, who_, "label", what_for};
        std::vector<std::string> asked;
        while (!greeting.awaited().empty()) {
            asked.emplace_back(greeting.awaited());
            greeting.judge(good(asked.back()));
        }
        return asked;
    }

    /// The failure if `answer` comes when `step` is awaited.
    std::optional<net::failure> failure_of(std::string_view step, const reply& answer) {
        handshake greeting{how_, who_, "label", purpose::commands};
        while (greeting.awaited() != step)
            greeting.judge(good(greeting.awaited()));
        try {
            greeting.judge(answer);
        } catch (const net::failure& why) {
            return why;
        }
        return std::nullopt;
    }

    /// The failure at a replica that answers INFO in this way.
    std::optional<net::failure> failure_at_replica(const reply& info) {
        handshake greeting{how_, who_, "label", purpose::commands};
        try {
            while (greeting.awaited() != "INFO server")
                greeting.judge(greeting.awaited() == "ROLE" ? array({"slave", "10.0.0.1", "6379"})
                                                            : good(greeting.awaited()));
            greeting.judge(info);
        } catch (const net::failure& why) {
            return why;
        }
        return std::nullopt;
    }

    std::string composed() {
        std::string out;
        handshake{how_, who_, "label", purpose::commands}.compose(out);
        return out;
    }

    options how_;
    credentials who_;
};

TEST_F(Handshake, AsksOnlyForWhatIsNeeded) {
    EXPECT_THAT(steps(), ::testing::ElementsAre("CLIENT SETNAME", "ROLE", "TIME", "INFO server",
                                                "INFO replication"));
    EXPECT_THAT(steps(purpose::more_commands),
                ::testing::ElementsAre("CLIENT SETNAME", "ROLE", "TIME", "INFO server"));
    EXPECT_THAT(steps(purpose::listening), ::testing::ElementsAre("CLIENT SETNAME", "INFO server"));
    who_.password = "p";
    how_.database = 3;
    EXPECT_THAT(
        steps(purpose::more_commands),
        ::testing::ElementsAre("AUTH", "SELECT", "CLIENT SETNAME", "ROLE", "TIME", "INFO server"));
    EXPECT_THAT(steps(purpose::listening),
                ::testing::ElementsAre("AUTH", "CLIENT SETNAME", "INFO server"));
}

TEST_F(Handshake, GivesTheUserOnlyWhereThereIsOne) {
    who_.password = "pw";
    EXPECT_THAT(composed(), HasSubstr("*2\r\n$4\r\nAUTH\r\n$2\r\npw\r\n"));
    who_.user = "me";
    EXPECT_THAT(composed(), HasSubstr("*3\r\n$4\r\nAUTH\r\n$2\r\nme\r\n$2\r\npw\r\n"));
    who_.password = {}; // a user whom no password is asked
    EXPECT_THAT(composed(), HasSubstr("*3\r\n$4\r\nAUTH\r\n$2\r\nme\r\n$0\r\n\r\n"));
}

TEST_F(Handshake, ARefusedPasswordIsTheEndAndIsNotRepeatedInWords) {
    who_.user = "me";
    who_.password = "hunter2";
    const auto why = failure_of("AUTH", error("WRONGPASS invalid username-password pair"));
    ASSERT_TRUE(why);
    EXPECT_EQ(why->code(), errc::refused);
    EXPECT_EQ(why->code(), make_error_code(store_errc::not_authenticated));
    EXPECT_THAT(why->what(), HasSubstr("AUTH: WRONGPASS invalid"));
    EXPECT_THAT(why->what(), Not(HasSubstr("hunter2")));
}

TEST_F(Handshake, ARefusedDatabaseIsTheEnd) {
    how_.database = 99;
    EXPECT_TRUE(failure_of("SELECT", error("ERR DB index is out of range")));
    EXPECT_TRUE(failure_of("SELECT", error("NOPERM no permissions to run 'select'")));
}

TEST_F(Handshake, WhatAnACLForbidsOrAProxyDoesNotKnowItDoesWithout) {
    for (const auto* step : {"CLIENT SETNAME", "ROLE", "TIME", "INFO server", "INFO replication"}) {
        EXPECT_FALSE(failure_of(step, error("NOPERM this user has no permissions"))) << step;
        EXPECT_FALSE(failure_of(step, error("ERR unknown command 'X'"))) << step;
        EXPECT_FALSE(failure_of(step, error("ERR Unknown subcommand or wrong number"))) << step;
    }
}

TEST_F(Handshake, AServerThatCannotServeIsTheEndWhereverItSaysSo) {
    for (const auto* step : {"CLIENT SETNAME", "ROLE", "TIME"}) {
        for (const auto* text :
             {"NOAUTH Authentication required.", "LOADING Redis is loading", "BUSY Redis is busy",
              "ERR max number of clients reached", "DENIED Redis is running in protected mode"})
            EXPECT_TRUE(failure_of(step, error(text))) << step << ": " << text;
    }
}

TEST_F(Handshake, AReplicaIsNotAskedForLocks) {
    for (const reply& info : {bulk(""), error("NOPERM no permissions to run 'info'")}) {
        const auto why = failure_at_replica(info);
        ASSERT_TRUE(why);
        EXPECT_EQ(why->code(), make_error_code(store_errc::read_only));
        EXPECT_EQ(why->code(), errc::unreachable);
    }
}

TEST_F(Handshake, ReplicaOfAClusterIsRefusedAsANodeOfTheCluster) {
    const auto why = failure_at_replica(bulk("redis_mode:cluster\r\n"));
    ASSERT_TRUE(why);
    EXPECT_EQ(why->code(), make_error_code(store_errc::wrong_address));
    how_.cluster.emplace();
    EXPECT_EQ(failure_at_replica(bulk("redis_mode:cluster\r\n"))->code(),
              make_error_code(store_errc::read_only));
}

TEST_F(Handshake, ASentinelIsNoServerForLocks) {
    reply role = array({"sentinel"});
    role.items.push_back(array({"orders"}));
    const auto why = failure_of("ROLE", role);
    ASSERT_TRUE(why);
    EXPECT_EQ(why->code(), make_error_code(store_errc::wrong_address));
    EXPECT_THAT(why->text(), HasSubstr("redis+sentinel://127.0.0.1:6379/orders"));
    how_.database = 3; // which it has not, and says so first
    EXPECT_THAT(failure_of("SELECT", error("ERR unknown command 'SELECT'"))->text(),
                HasSubstr("redis+sentinel://127.0.0.1:6379/SERVICE"));
    EXPECT_THAT(failure_of("SELECT", error("ERR DB index is out of range"))->text(),
                Not(HasSubstr("sentinel")));
}

TEST_F(Handshake, NodeOfAClusterIsRefusedAtTheUrlOfOneServer) {
    const reply info = bulk("# Server\r\nredis_mode:cluster\r\nrun_id:abc\r\n");
    const auto why = failure_of("INFO server", info);
    ASSERT_TRUE(why);
    EXPECT_EQ(why->code(), make_error_code(store_errc::wrong_address));
    EXPECT_THAT(why->text(), HasSubstr("redis+cluster://127.0.0.1:6379"));
    EXPECT_TRUE(failure_of("INFO server", bulk("server_mode:cluster\r\n"))) << "Valkey 8";
    EXPECT_FALSE(failure_of("INFO server", bulk("redis_mode:standalone\r\n")));
    how_.cluster.emplace();
    EXPECT_FALSE(failure_of("INFO server", info));
}

TEST_F(Handshake, AnAnswerOfAnotherShapeIsTheEnd) {
    EXPECT_TRUE(failure_of("CLIENT SETNAME", array({"OK"})));
    EXPECT_TRUE(failure_of("ROLE", status("OK")));
    EXPECT_TRUE(failure_of("TIME", status("OK")));
    EXPECT_TRUE(failure_of("INFO server", status("OK")));
}

TEST_F(Handshake, LearnsTheServersTime) {
    const auto time_told = [this](std::vector<std::string> answer) {
        handshake greeting{how_, who_, "", purpose::commands};
        greeting.judge(status("OK"));
        greeting.judge(array({"master"}));
        greeting.judge(array(std::move(answer)));
        return greeting.told().shown;
    };
    EXPECT_EQ(time_told({"1700000000", "123456"}), 1'700'000'000s + 123'456us);
    EXPECT_FALSE(time_told({"1700000000"}));
    EXPECT_FALSE(time_told({"1700000000", "x"}));
    EXPECT_FALSE(time_told({"", "1"}));
    EXPECT_FALSE(time_told({"-1", "1"}));
    EXPECT_FALSE(time_told({"9223372036854775807", "1"}));
    EXPECT_FALSE(time_told({"99999999999999999999", "1"}));
}

TEST_F(Handshake, LearnsWhichServerItIs) {
    const auto told = [this](std::string server, std::string replication) {
        handshake greeting{how_, who_, "", purpose::commands};
        while (greeting.awaited() != "INFO server")
            greeting.judge(good(greeting.awaited()));
        greeting.judge(bulk(std::move(server)));
        greeting.judge(bulk(std::move(replication)));
        return greeting.told();
    };
    const server_hello whole =
        told("# Server\r\nredis_run_id:x\r\nrun_id:abc\r\nuptime_in_seconds:17\r\n",
             "# Replication\r\nrole:master\r\nmaster_replid2:no\r\nmaster_replid:def\r\n");
    EXPECT_TRUE(whole.tells_role);
    EXPECT_EQ(whole.run_id, "abc");
    EXPECT_EQ(whole.uptime, 17s);
    EXPECT_EQ(whole.replication_id, "def");
    const server_hello nothing = told("uptime_in_seconds:-3", "master_replid");
    EXPECT_EQ(nothing.run_id, "");
    EXPECT_FALSE(nothing.uptime);
    EXPECT_EQ(nothing.replication_id, "");
    EXPECT_FALSE(told("uptime_in_seconds:99999999999999999\r\n", "").uptime);
    EXPECT_EQ(told("run_id:last line", "").run_id, "last line");
}

TEST(ClientName, IsWhatServersAllow) {
    EXPECT_EQ(client_name(""), "holdfast");
    EXPECT_EQ(client_name("billing-7"), "billing-7");
    EXPECT_EQ(client_name("a b\nc\xc3\xa4"), "a_b_c__");
    EXPECT_EQ(client_name(std::string(1000, 'x')).size(), 128u);
}

// tests/unit/redis/cluster/redirection_test.cpp tests which addresses a redirection may have.

TEST(Host, IsPrintableAndNotTooLong) {
    EXPECT_TRUE(is_host("a"));
    EXPECT_TRUE(is_host("fe80::1%eth0"));
    EXPECT_TRUE(is_host(std::string(253, 'a')));
    EXPECT_FALSE(is_host(std::string(254, 'a')));
    EXPECT_FALSE(is_host(""));
    EXPECT_FALSE(is_host("a b"));
    EXPECT_FALSE(is_host("a\tb"));
    EXPECT_FALSE(is_host({"a\0b", 3}));
    EXPECT_FALSE(is_host("h\xC3\xA9"));
}

TEST(Host, IsNoPathOfALocalSocket) {
    EXPECT_FALSE(is_host("/tmp/socket"));
    EXPECT_FALSE(is_host_beside("/tmp/socket", "10.0.0.1"));
    EXPECT_TRUE(is_host_beside("/tmp/socket", "/tmp/other"));
    EXPECT_FALSE(read_host_and_port("/tmp/socket:1", "10.0.0.1"));
}

TEST(Host, APortIsDigitsAlone) {
    EXPECT_EQ(read_port("1"), 1);
    EXPECT_EQ(read_port("65535"), 65535);
    for (const char* text :
         {"", "0", "65536", "-1", "+1", " 1", "1 ", "1x", "99999999999999999999"})
        EXPECT_FALSE(read_port(text)) << text;
}

TEST(Host, AndPortAreCutAtTheLastColon) {
    EXPECT_EQ(read_host_and_port("a:1", "b"), (server_address{"a", 1}));
    EXPECT_EQ(read_host_and_port("::1:2", "b"), (server_address{"::1", 2}));
    EXPECT_EQ(read_host_and_port("[::1]:2", "b"), (server_address{"::1", 2}));
    EXPECT_EQ(read_host_and_port(":2", "b"), (server_address{"b", 2}));
    for (const char* text : {"", "a", "a:", "1", "[]:x"})
        EXPECT_FALSE(read_host_and_port(text, "b")) << text;
}

} // namespace
} // namespace holdfast::redis
