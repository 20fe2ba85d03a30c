// SPDX-License-Identifier: Apache-2.0
#include "net/failure.hpp"
#include "redis/link/handshake.hpp"

#include <gmock/gmock.h>

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;
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
/// What a server answers that is in order.
reply good(std::string_view step) {
    return step == "ROLE"             ? array({"master"})
           : step == "TIME"           ? array({"1", "2"})
           : step.starts_with("INFO") ? bulk("")
                                      : status("OK");
}

class Handshake : public ::testing::Test {
protected:
    /// What it asks for, in order.
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
    const auto why = failure_of("ROLE", array({"slave", "10.0.0.1", "6379"}));
    ASSERT_TRUE(why);
    EXPECT_EQ(why->code(), make_error_code(store_errc::read_only));
    EXPECT_EQ(why->code(), errc::unreachable);
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
    const introduction whole =
        told("# Server\r\nredis_run_id:x\r\nrun_id:abc\r\nuptime_in_seconds:17\r\n",
             "# Replication\r\nrole:master\r\nmaster_replid2:no\r\nmaster_replid:def\r\n");
    EXPECT_TRUE(whole.tells_role);
    EXPECT_EQ(whole.run_id, "abc");
    EXPECT_EQ(whole.uptime, 17s);
    EXPECT_EQ(whole.replication_id, "def");
    const introduction nothing = told("uptime_in_seconds:-3", "master_replid");
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

} // namespace
} // namespace holdfast::redis
