// SPDX-License-Identifier: Apache-2.0
// The node on real servers.
#include "node_on_server.hpp"

#include <algorithm>
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
    const auto ear = node().hear(redis::channel_name{"ch"}, *wake);
    int rings = 0;
    bool sure = false, over = false;
    auto listen = [&]() -> asio::awaitable<void> {
        sure = co_await ear->confirmed(clock_.now() + support::far_too_long);
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
    auto ask = [&](redis::hearing& ear, std::optional<bool>& heard) -> asio::awaitable<void> {
        heard = co_await ear.confirmed(clock_.now() + support::far_too_long);
    };
    for (const auto& [ear, heard] : {std::pair{no.get(), &heard_no}, {yes.get(), &heard_yes}})
        asio::co_spawn(io_, ask(*ear, *heard), [](const std::exception_ptr&) {});
    EXPECT_TRUE(run_until([&] { return heard_no && heard_yes; }));
    EXPECT_EQ(heard_no, false);
    EXPECT_EQ(heard_yes, true);
    EXPECT_THAT(told_.last(event_kind::impaired)->text,
                AllOf(HasSubstr("cannot listen to no: NOPERM"), HasSubstr("granted: &no")));
}

} // namespace
} // namespace holdfast
