// SPDX-License-Identifier: Apache-2.0
// Calls to what is no ZooKeeper, or a hostile one: each ends in time, typed and worded, and a
// server that makes sense again is used again.
#include "session_fixture.hpp"

#include <holdfast/error.hpp>

#include <ostream>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

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
        {"AnswerNobodyAskedFor", fake_zookeeper::framed(head(7)), "nobody asked"},
        {"AnswerToNumberZero", fake_zookeeper::framed(head(0)), "nobody asked"},
        {"AnswerToALogin", fake_zookeeper::framed(head(-4)), "nobody asked"},
        {"Pong", fake_zookeeper::framed(head(-2)), "nobody asked"},
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
    EXPECT_THAT(met->text, HasSubstr("may serve nobody now"));
}

TEST_F(WrongAnswer, ASessionOfNoTimeSpinsNothing) {
    server_.grants_ms = 1;
    use();
    open();
    pass(100ms); // sim_clock throws where time cannot go on
    EXPECT_LE(server_.count(opcode::multi), 101u);
}

} // namespace
} // namespace holdfast
