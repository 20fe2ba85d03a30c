// SPDX-License-Identifier: Apache-2.0
// Requests in a session, and what callers are told after a fault.
#include "session_fixture.hpp"

#include <holdfast/error.hpp>

#include <ostream>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using refusal = zookeeper::session::refusal;
using removal = zookeeper::session::removal;
using zookeeper::node_mode;

class SessionCalls : public on_fake_zookeeper {
protected:
    /// Of the last request that came, the first text: its path.
    std::string last_path() {
        return std::string{zookeeper::jute_reader{server_.last().requests.back().body}.text()};
    }
    std::vector<opcode> asked() {
        std::vector<opcode> all;
        for (const auto& one : server_.last().requests)
            all.push_back(one.what);
        return all;
    }
};

TEST_F(SessionCalls, OpenASessionWithTheFirst) {
    EXPECT_EQ(session().state().id, 0);
    EXPECT_THAT(server_.visits, IsEmpty());
    const auto listed = list();
    ASSERT_TRUE(listed->answer) << listed->text;
    EXPECT_THAT(**listed->answer, ElementsAre("a", "b"));
    EXPECT_EQ(server_.last().greeting->id, 0);
    EXPECT_EQ(server_.last().greeting->timeout_ms, 6000);
    EXPECT_EQ(session().state().id, server_.sessions.front());
    EXPECT_EQ(session().state().timeout, 6000ms);
    EXPECT_TRUE(session().state().connected);
    EXPECT_EQ(session().address(), how_.servers.front().host + ":1");
    EXPECT_THAT(news_, ElementsAre(session_news::opened));
}

TEST_F(SessionCalls, TheLeaseTimeIsTheSessionsWhereNobodySaysOtherwise) {
    how_.session_timeout = {};
    open();
    EXPECT_EQ(server_.last().greeting->timeout_ms, 30'000);
}

TEST_F(SessionCalls, AreAnsweredInTheOrderOfAsking) {
    std::vector<call<zookeeper::listing>> all;
    for (int i = 0; i < 100; ++i)
        all.push_back(list("/" + std::to_string(i)));
    for (const auto& one : all)
        EXPECT_TRUE(one->answer);
    EXPECT_EQ(server_.last().requests.size(), 100u);
    EXPECT_EQ(server_.last().requests.back().number, 100);
    EXPECT_EQ(server_.visits.size(), 1u);
}

TEST_F(SessionCalls, CreationTellsWhereAndUnderWhichNumber) {
    const auto made = create("/p/n");
    ASSERT_TRUE(made->answer) << made->text;
    EXPECT_EQ(made->answer->why, refusal::none);
    EXPECT_EQ(made->answer->node.path, "/p/n");
    EXPECT_GT(made->answer->node.stat.czxid, 0);
}

TEST_F(SessionCalls, CreationIsRefusedForTwoReasonsThatAreAnswers) {
    server_.says[opcode::create2] = {-101, ""};
    EXPECT_EQ(create()->answer.value().why, refusal::no_parent);
    server_.says[opcode::create2] = {-110, ""};
    EXPECT_EQ(create()->answer.value().why, refusal::exists);
}

TEST_F(SessionCalls, AListBehindACreationIsAskedInOneWrite) {
    zookeeper::new_node node{"/p/n-", "me", node_mode::ephemeral_sequential};
    const auto both = begin(session().create_and_list(node, "/p"));
    ASSERT_TRUE(both->answer) << both->text;
    EXPECT_EQ(both->answer->made.node.path, "/p/n-");
    EXPECT_THAT(*both->answer->children, ElementsAre("a", "b"));
    EXPECT_THAT(asked(), ElementsAre(opcode::create2, opcode::get_children));
}

TEST_F(SessionCalls, NothingOfAListIsSaidWhereTheNodeIsNotThere) {
    server_.says[opcode::get_children] = {-101, ""};
    server_.says[opcode::create2] = {-101, ""};
    EXPECT_EQ(list()->answer.value(), std::nullopt);
    zookeeper::new_node node{"/p/n-", "me", node_mode::ephemeral_sequential};
    const auto both = begin(session().create_and_list(node, "/p"));
    EXPECT_EQ(both->answer.value().made.why, refusal::no_parent);
    EXPECT_EQ(both->answer.value().children, std::nullopt);
}

TEST_F(SessionCalls, AServerThatKnowsNoContainersGetsAPersistentNode) {
    server_.says[opcode::create_container] = {-6, ""};
    zookeeper::new_node node{"/p", "", node_mode::container};
    const auto made = begin(session().create(node));
    ASSERT_TRUE(made->answer) << made->text;
    EXPECT_EQ(made->answer->node.path, "/p");
    EXPECT_THAT(asked(), ElementsAre(opcode::create_container, opcode::create2));
}

TEST_F(SessionCalls, DataIsReadAndWrittenWhereTheNodeIsThere) {
    EXPECT_EQ(begin(session().get("/p"))->answer.value().value().data, "data");
    EXPECT_TRUE(begin(session().set("/p", "new"))->answer.value());
    server_.says[opcode::get_data] = server_.says[opcode::set_data] = {-101, ""};
    EXPECT_EQ(begin(session().get("/p"))->answer.value(), std::nullopt);
    EXPECT_FALSE(begin(session().set("/p", "new"))->answer.value());
}

TEST_F(SessionCalls, DataOfAnotherVersionAreNotReplaced) {
    EXPECT_TRUE(begin(session().set_if_unchanged("/p", "new", 7))->answer.value());
    EXPECT_THAT(server_.last().requests.back().body, HasSubstr(std::string{"new\0\0\0\7", 7}));
    for (const std::int32_t error : {-101, -103}) {
        server_.says[opcode::set_data] = {error, ""};
        EXPECT_FALSE(begin(session().set_if_unchanged("/p", "new", 7))->answer.value());
    }
}

TEST_F(SessionCalls, DeletionTellsWhyNot) {
    EXPECT_EQ(begin(session().remove("/p"))->answer, removal::removed);
    server_.says[opcode::remove] = {-101, ""};
    EXPECT_EQ(begin(session().remove("/p"))->answer, removal::absent);
    server_.says[opcode::remove] = {-111, ""};
    EXPECT_EQ(begin(session().remove("/p"))->answer, removal::has_children);
}

TEST_F(SessionCalls, AnyOtherErrorIsAFailureThatSaysWhatWasAsked) {
    server_.says[opcode::get_children] = {-102, ""};
    const auto listed = list("/p");
    EXPECT_EQ(listed->code, store_errc::no_permission);
    EXPECT_THAT(listed->text, HasSubstr("the list of /p"));
    EXPECT_TRUE(server_.last().open) << "it is no reason to think ill of the connection";
}

TEST_F(SessionCalls, TheChrootStandsBeforeEachPathAndIsNotSeen) {
    how_.chroot = "/team";
    const auto made = create("/p/n");
    EXPECT_EQ(made->answer.value().node.path, "/p/n");
    EXPECT_EQ(last_path(), "/team/p/n");
    list("/");
    EXPECT_EQ(last_path(), "/team");
    confirm();
    EXPECT_THAT(server_.last().requests.back().body, HasSubstr("\5/team"));
}

TEST_F(SessionCalls, MissingChrootIsReportedByEveryCallThatFindsNoNode) {
    how_.chroot = "/taem";
    for (const opcode each : {opcode::get_children, opcode::get_data, opcode::set_data,
                              opcode::create2, opcode::exists})
        server_.says[each] = {-101, ""};
    const auto expect_missing = [&](const auto& failed) {
        EXPECT_EQ(failed->code, store_errc::not_set_up);
        EXPECT_THAT(failed->text, AllOf(HasSubstr("the chroot '/taem' does not exist at "),
                                        HasSubstr("create this node, or correct the path")));
    };
    const auto wake = clock_.make_alarm();
    expect_missing(list("/"));
    expect_missing(begin(session().get("/p")));
    expect_missing(begin(session().set("/p", "x")));
    expect_missing(create("/p"));
    expect_missing(begin(session().list_and_watch("/p", *wake)));
}

TEST_F(SessionCalls, ExistingChrootIsCheckedByOneRequestAfterEachMissingNode) {
    how_.chroot = "/team";
    server_.says[opcode::get_children] = {-101, ""};
    for (int i = 0; i < 3; ++i) {
        const auto listed = list();
        ASSERT_TRUE(listed->answer) << listed->text;
        EXPECT_FALSE(*listed->answer);
    }
    EXPECT_EQ(server_.count(opcode::exists), 3u);
    EXPECT_EQ(server_.count(opcode::get_children), 3u);
    EXPECT_EQ(server_.count(opcode::sync), 0u);
}

TEST_F(SessionCalls, ChrootThatIsDeletedLaterIsReported) {
    how_.chroot = "/team";
    server_.says[opcode::get_children] = {-101, ""};
    EXPECT_TRUE(list()->answer);
    server_.says[opcode::exists] = {-101, ""};
    const auto listed = list();
    EXPECT_EQ(listed->code, store_errc::not_set_up);
    EXPECT_THAT(listed->text, HasSubstr("the chroot '/team' does not exist at "));
}

TEST_F(SessionCalls, ChrootThatALaggingServerLearnsBySyncIsFound) {
    how_.chroot = "/team";
    server_.says[opcode::get_children] = {-101, ""};
    bool knows = false;
    server_.improvises = [&](const fake_zookeeper::asked& one) -> std::optional<std::string> {
        knows = knows || one.what == opcode::sync;
        if (one.what != opcode::exists || knows)
            return std::nullopt;
        return server_.answer(one.number, -101);
    };
    const auto listed = list();
    ASSERT_TRUE(listed->answer) << listed->text;
    EXPECT_FALSE(*listed->answer);
}

TEST_F(SessionCalls, DeletionOfANodeBelowAMissingChrootReportsNoNode) {
    how_.chroot = "/team";
    server_.says[opcode::remove] = server_.says[opcode::exists] = {-101, ""};
    EXPECT_EQ(begin(session().remove("/p"))->answer, removal::absent);
    EXPECT_EQ(server_.count(opcode::exists), 0u);
}

TEST_F(SessionCalls, ChrootThatIsCreatedLaterIsFound) {
    how_.chroot = "/team";
    server_.says[opcode::get_children] = server_.says[opcode::exists] = {-101, ""};
    EXPECT_EQ(list()->code, store_errc::not_set_up);
    server_.says.erase(opcode::exists);
    const auto listed = list();
    ASSERT_TRUE(listed->answer) << listed->text;
    EXPECT_FALSE(*listed->answer);
}

TEST_F(SessionCalls, AConfirmationIsOneWriteWhereAllAreThere) {
    EXPECT_THAT(confirm({"/a", "/b"})->answer.value(), ElementsAre(true, true));
    EXPECT_THAT(asked(), ElementsAre(opcode::multi));
    EXPECT_THAT(confirm()->answer.value(), IsEmpty());
    EXPECT_THAT(asked(), ElementsAre(opcode::multi, opcode::multi));
}

TEST_F(SessionCalls, AConfirmationLooksAgainForWhatIsBehindAMissingNode) {
    std::string failed;
    zookeeper::jute_writer to{failed};
    for (const std::int32_t error : {0, -101, -2})
        to.number(-1).flag(false).number(error).number(error);
    to.number(-1).flag(true).number(-1);
    server_.says[opcode::multi] = {0, failed};
    EXPECT_THAT(confirm({"/a", "/b", "/c"})->answer.value(), ElementsAre(true, false, true));
    EXPECT_THAT(asked(), ElementsAre(opcode::multi, opcode::exists));
    EXPECT_EQ(last_path(), "/c");
}

TEST_F(SessionCalls, AConfirmationIsGivenUpWhenItsAnswerIsOfNoUseAnyMore) {
    open();
    server_.answers = false;
    const auto asked = confirm({"/a"}, clock_.now() + 100ms);
    pass(99ms);
    EXPECT_FALSE(asked->done);
    pass(1ms);
    EXPECT_EQ(asked->code, errc::outcome_unknown);
    EXPECT_THAT(asked->text, HasSubstr("did not answer within 100 ms"));
    EXPECT_TRUE(server_.last().open) << "it may only be slow";
}

TEST_F(SessionCalls, AConfirmationThatCouldNotBeSentInTimeWasNotSent) {
    server_.greets = false;
    const auto asked = confirm({"/a"}, clock_.now() + 100ms);
    pass(100ms);
    EXPECT_EQ(asked->code, errc::unreachable);
    EXPECT_THAT(asked->text, HasSubstr("not sent within 100 ms"));
}

TEST_F(SessionCalls, AnAnswerMayComeInAnyTwoPieces) {
    open();
    const std::string whole = server_.answer(0, 0, fake_zookeeper::texts({"x", "yz"}));
    for (std::size_t at = 0; at <= whole.size(); ++at) {
        std::string bytes;
        server_.improvises = [&](const fake_zookeeper::asked& one) {
            bytes = server_.answer(one.number, 0, fake_zookeeper::texts({"x", "yz"}));
            return bytes.substr(0, at);
        };
        const auto listed = list();
        EXPECT_EQ(listed->done, at == whole.size()) << at;
        server_.last().send(bytes.substr(at));
        settle();
        ASSERT_TRUE(listed->answer) << at << listed->text;
        EXPECT_THAT(**listed->answer, ElementsAre("x", "yz")) << at;
    }
    EXPECT_EQ(server_.visits.size(), 1u);
}

TEST_F(SessionCalls, EndInTimeWhateverTheServerDoes) {
    how_.command_timeout = 500ms;
    open();
    server_.answers = false;
    const auto listed = list();
    pass(499ms);
    EXPECT_FALSE(listed->done);
    pass(1ms);
    EXPECT_EQ(listed->code, errc::outcome_unknown);
    EXPECT_THAT(listed->text, HasSubstr("did not answer within 500 ms"));
}

TEST_F(SessionCalls, WhatWasNotSentIsUnreachable) {
    how_.command_timeout = 500ms;
    server_.greets = false;
    const auto listed = list();
    pass(500ms);
    EXPECT_EQ(listed->code, errc::unreachable);
}

TEST_F(SessionCalls, WhereTheOnlyServerIsDownEndAtOnce) {
    server_.stop();
    const auto listed = list();
    EXPECT_EQ(listed->code, errc::unreachable);
    EXPECT_THAT(listed->text, HasSubstr("no connection to"));
    server_.start();
    pass(how_.backoff_max);
    EXPECT_TRUE(list()->answer);
}

TEST_F(SessionCalls, WhatWasSentWhenTheConnectionIsLostIsUnknownAndNotSentAgain) {
    open();
    server_.answers = false;
    const auto made = create();
    server_.drop_connections();
    settle();
    EXPECT_EQ(made->code, errc::outcome_unknown);
    server_.answers = true;
    pass(1s);
    open();
    EXPECT_EQ(server_.count(opcode::create2), 1u);
}

TEST_F(SessionCalls, MayBeCancelled) {
    open();
    server_.answers = false;
    const auto first = list(), second = list();
    first->cancel.emit(asio::cancellation_type::terminal);
    settle();
    EXPECT_EQ(first->code, asio::error::operation_aborted);
    EXPECT_FALSE(second->done);
    for (const auto& one : server_.last().requests)
        if (one.number > 1)
            server_.last().send(server_.answer(one.number, 0, fake_zookeeper::texts({})));
    settle();
    EXPECT_TRUE(second->answer) << second->text;
}

TEST_F(SessionCalls, MoreThanAreAllowedAreRefusedAtOnce) {
    how_.requests_max = 2;
    open();
    server_.answers = false;
    const auto first = list(), second = list(), third = list();
    EXPECT_FALSE(second->done);
    EXPECT_EQ(third->code, errc::overloaded);
}

TEST_F(SessionCalls, EndWithTheSession) {
    open();
    server_.answers = false;
    const auto listed = list();
    session().close();
    settle();
    EXPECT_EQ(listed->code, errc::closed);
    EXPECT_EQ(list()->code, errc::closed);
}

TEST_F(SessionCalls, DepartingEndsTheSessionAtTheServer) {
    open();
    const auto departed = begin(session().depart());
    EXPECT_TRUE(departed->done);
    EXPECT_EQ(server_.count(opcode::close_session), 1u);
    EXPECT_EQ(session().state().id, 0);
    EXPECT_THAT(news_, ElementsAre(session_news::opened, session_news::ended));
    EXPECT_EQ(told_.count(event_kind::disconnected), 0u) << "nothing went wrong";
}

TEST_F(SessionCalls, DepartingTakesNoLongerThanConnectingMay) {
    open();
    server_.answers = false;
    const auto departed = begin(session().depart());
    pass(how_.connect_timeout - 1ms);
    EXPECT_FALSE(departed->done);
    pass(1ms);
    EXPECT_TRUE(departed->done);
    EXPECT_FALSE(departed->code);
}

TEST_F(SessionCalls, DepartingFromNowhereDoesNothing) {
    EXPECT_TRUE(begin(session().depart())->done);
    EXPECT_THAT(server_.visits, IsEmpty());
}

// Calls to what is no ZooKeeper, or a hostile one: each ends in time, typed and worded, and a
// server that makes sense again is used again.

struct stranger {
    const char* label;
    std::string says; ///< where an answer to the list should be
    const char* words;
};
void PrintTo(const stranger& who, std::ostream* to) {
    *to << who.label;
}

constexpr std::size_t longest_answer = 100'000;

std::string head(std::int32_t number) {
    std::string out;
    zookeeper::jute_writer{out}.number(number).long_number(1).number(0);
    return out;
}

/// In answer to the second request of a session, number 2.
std::string listing(std::int32_t count, std::string_view rest = {}) {
    std::string out = head(2);
    zookeeper::jute_writer{out}.number(count);
    return fake_zookeeper::framed(out + std::string{rest});
}

std::vector<stranger> strangers() {
    return {
        {"AnswerNobodyAskedFor", fake_zookeeper::framed(head(7)), "to no request"},
        {"AnswerToNumberZero", fake_zookeeper::framed(head(0)), "to no request"},
        {"AnswerToALogin", fake_zookeeper::framed(head(-4)), "to no request"},
        {"Pong", fake_zookeeper::framed(head(-2)), "to no request"},
        {"NegativeFrame", std::string{"\xff\xff\xff\xff", 4}, "not from 0 to 100000"},
        {"MostNegativeFrame", std::string{"\x80\0\0\0", 4}, "not from 0 to 100000"},
        {"FrameOfGigabytes", std::string{"\x7f\xff\xff\xff", 4}, "not from 0 to 100000"},
        {"EmptyFrame", std::string(4, '\0'), "ends too early"},
        {"Http", "HTTP/1.1 400 Bad Request\r\n\r\n", "is it a ZooKeeper server"},
        {"EventWithoutPath", fake_zookeeper::framed(head(-1)), "ends too early"},
    };
}

class ZookeeperStrangers : public on_fake_zookeeper,
                           public ::testing::WithParamInterface<stranger> {
protected:
    ZookeeperStrangers() { how_.reply_bytes_max = longest_answer; }
};

INSTANTIATE_TEST_SUITE_P(All, ZookeeperStrangers, ::testing::ValuesIn(strangers()),
                         [](const auto& which) { return std::string{which.param.label}; });

// AnAnswerNobodyAskedForCutsTheConnection, and whatever else makes no sense.
TEST_P(ZookeeperStrangers, AreCutAndTheSessionGoesOn) {
    open();
    server_.improvises = [](const auto&) { return std::optional{GetParam().says}; };
    const auto met = list();
    ASSERT_TRUE(met->done);
    EXPECT_EQ(met->code, store_errc::protocol) << met->text;
    EXPECT_THAT(met->text, HasSubstr(GetParam().words));
    EXPECT_FALSE(server_.last().open);
    server_.improvises = nullptr;
    pass(how_.backoff_max);
    EXPECT_TRUE(list()->answer);
    EXPECT_EQ(server_.last().greeting->id, server_.sessions.front());
    EXPECT_THAT(news_,
                ElementsAre(session_news::opened, session_news::suspended, session_news::resumed));
}

class WrongAnswer : public on_fake_zookeeper {
protected:
    WrongAnswer() { how_.reply_bytes_max = longest_answer; }
};

TEST_F(WrongAnswer, AListOfTwoBillionNamesIsRefused) {
    open();
    server_.improvises = [](const auto&) { return std::optional{listing(0x7fffffff, "abc")}; };
    EXPECT_EQ(list()->code, store_errc::protocol);
}

TEST_F(WrongAnswer, AListOfFewerThanNoNamesIsRefused) {
    open();
    server_.improvises = [](const auto&) { return std::optional{listing(-2)}; };
    EXPECT_EQ(list()->code, store_errc::protocol);
}

TEST_F(WrongAnswer, ANameOfNegativeLengthIsRefused) {
    open();
    const std::string name{"\xff\xff\xff\xf0", 4};
    server_.improvises = [&](const auto&) { return std::optional{listing(1, name)}; };
    EXPECT_EQ(list()->code, store_errc::protocol);
}

TEST_F(WrongAnswer, AnAnswerThatNobodyAskedForCutsAnIdleConnection) {
    open();
    server_.last().send(server_.answer(1));
    settle();
    EXPECT_FALSE(server_.last().open);
}

TEST_F(WrongAnswer, AWelcomeThatMakesNoSenseIsNoSession) {
    for (const std::string& said :
         {std::string{}, std::string(10, '\0'), std::string(19, '\xff'), std::string(40, '\xff')}) {
        server_.welcomes_with = [&](const auto&) { return std::optional{said}; };
        const auto met = list();
        ASSERT_TRUE(met->done);
        EXPECT_EQ(met->code, errc::unreachable) << met->text;
        pass(how_.backoff_max);
    }
    server_.welcomes_with = nullptr;
    EXPECT_TRUE(list()->answer);
}

TEST_F(WrongAnswer, AServerThatSpeaksTlsIsRecognised) {
    server_.greets = false;
    const auto met = list();
    server_.last().send(std::string{"\x15\x03\x03\x00\x02\x02\x28", 7});
    settle();
    EXPECT_EQ(met->code, store_errc::tls_failed);
    EXPECT_THAT(met->text, HasSubstr("tls=yes"));
}

TEST_F(WrongAnswer, ASilentTlsHandshakeEndsInTime) {
    how_.tls.emplace();
    how_.tls->server_name = "any.test";
    server_.greets = false;
    const auto met = list();
    pass(how_.connect_timeout);
    ASSERT_TRUE(met->done);
    EXPECT_EQ(met->code, errc::unreachable);
    EXPECT_THAT(met->text, HasSubstr("TLS handshake"));
}

TEST_F(WrongAnswer, AServerThatServesNobodySaysNothingAndHangsUp) {
    server_.greets = false;
    const auto met = list();
    server_.drop_connections();
    settle();
    EXPECT_EQ(met->code, errc::unreachable);
    EXPECT_THAT(met->text, HasSubstr("may have no majority now"));
}

TEST_F(WrongAnswer, ASessionOfNoTimeSpinsNothing) {
    server_.grants_ms = 1;
    use();
    open();
    pass(100ms); // sim_clock throws where time cannot go on
    EXPECT_LE(server_.count(opcode::multi), 101u);
}

// Watches of nodes, and observers of the session.

class SessionWatches : public on_fake_zookeeper {
protected:
    auto watch_node(std::string path, int& told) {
        std::function<void()> whom = [&told] { ++told; };
        return begin(session().watch_node(std::move(path), std::move(whom)));
    }
    using kind = zookeeper::node_event::kind;
};

TEST_F(SessionWatches, AreToldOnce) {
    int told = 0;
    const auto watching = watch_node("/p/n", told);
    ASSERT_TRUE(watching->answer.value());
    server_.last().send(server_.event(kind::deleted, "/p/n") +
                        server_.event(kind::deleted, "/p/n"));
    settle();
    EXPECT_EQ(told, 1);
}

TEST_F(SessionWatches, OfANodeThatIsNotThereAreNone) {
    server_.says[opcode::get_data] = {-101, ""};
    int told = 0;
    EXPECT_EQ(watch_node("/p/n", told)->answer.value(), nullptr);
}

TEST_F(SessionWatches, RingAnAlarmForChildren) {
    const auto wake = clock_.make_alarm();
    const auto both = begin(session().list_and_watch("/p", *wake));
    ASSERT_TRUE(both->answer) << both->text;
    EXPECT_THAT(both->answer->children.value(), ElementsAre("a", "b"));
    const auto slept = begin(wake->wait_until(time_point::max()));
    EXPECT_FALSE(slept->done);
    server_.last().send(server_.event(kind::children, "/p"));
    settle();
    EXPECT_TRUE(slept->done);
}

TEST_F(SessionWatches, AreMissedByNobodyWhereTheEventFollowsTheAnswerAtOnce) {
    open();
    server_.improvises = [&](const fake_zookeeper::asked& one) {
        return server_.answer(one.number, 0, fake_zookeeper::text("") + fake_zookeeper::stat()) +
               server_.event(kind::changed, "/p/n");
    };
    int told = 0;
    const auto watching = watch_node("/p/n", told);
    EXPECT_EQ(told, 1);
}

TEST_F(SessionWatches, ThatWereDroppedAreNotTold) {
    int told = 0;
    const auto watching = watch_node("/p/n", told);
    watching->answer.reset();
    server_.last().send(server_.event(kind::deleted, "/p/n"));
    settle();
    EXPECT_EQ(told, 0);
    EXPECT_TRUE(server_.last().open) << "what the server tells nevertheless is no fault";
}

TEST_F(SessionWatches, AreAllToldWhenTheSessionIsResumed) {
    int told = 0;
    const auto watching = watch_node("/p/n", told);
    lose_connection();
    EXPECT_EQ(told, 0);
    pass(how_.backoff_max);
    EXPECT_EQ(news_.back(), session_news::resumed);
    EXPECT_EQ(told, 1);
}

TEST_F(SessionWatches, AreAllToldWhenItHasEnded) {
    int told = 0;
    const auto watching = watch_node("/p/n", told);
    use();
    server_.stop();
    pass(6s);
    EXPECT_EQ(news_.back(), session_news::ended);
    EXPECT_EQ(told, 1);
}

TEST_F(SessionWatches, KeepASessionThatNobodyUsesOtherwise) {
    int told = 0;
    auto watching = watch_node("/p/n", told);
    pass(3600s);
    EXPECT_EQ(news_, std::vector{session_news::opened});
    watching->answer.reset();
    pass(3600s);
    EXPECT_EQ(news_.back(), session_news::ended);
    EXPECT_EQ(server_.visits.size(), 1u);
}

TEST_F(SessionWatches, TheChrootStandsBeforeTheirPaths) {
    how_.chroot = "/team";
    int told = 0;
    const auto watching = watch_node("/p/n", told);
    server_.last().send(server_.event(kind::deleted, "/p/n"));
    settle();
    EXPECT_EQ(told, 0);
    server_.last().send(server_.event(kind::deleted, "/team/p/n"));
    settle();
    EXPECT_EQ(told, 1);
}

} // namespace
} // namespace holdfast
