// SPDX-License-Identifier: Apache-2.0
// What a server or a way says that none should.
#include "database_on_server.hpp"
#include "tcp_way.hpp"

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using ::testing::HasSubstr;

class DatabaseHostile : public database_on_server {
protected:
    void SetUp() override {
        database_on_server::SetUp();
        if (IsSkipped() || HasFatalFailure())
            return;
        way_.emplace(server().port());
        how_.unix_socket.clear();
        how_.servers = {{"127.0.0.1", way_->port()}};
        how_.connect_timeout = 1s;
        how_.command_timeout = 500ms;
    }
    tcp_way& way() { return *way_; }

    std::optional<tcp_way> way_;
};

TEST_F(DatabaseHostile, AfterAGreetingThatIsNoneNothingIsUnknown) {
    const std::string greetings[] = {
        "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"s,
        "\x00\x00\x00\x00"s,
        "\xff\xff\xff\x00"s,
        "\x05\x00\x00\x00\x0a\x31\x00\x00\x00"s,
        "\x01\x00\x00\x00\xff"s,
        "\x4a\x00\x00\x00\x0a"s + std::string(73, '\xff'),
        "\x10\x00\x00\x00\xff\x10\x04#08004Too ma"s,
    };
    for (const std::string& each : greetings) {
        way().greet_with(each);
        const asked call = ask("SELECT 1");
        EXPECT_TRUE(call->code == errc::unreachable || call->code == errc::refused)
            << ::testing::PrintToString(each) << call->text;
        forget_database();
    }
}

TEST_F(DatabaseHostile, ASilentServerIsUnreachable) {
    how_.connect_timeout = 300ms;
    way().lose_after(0); // it greets, and never hears of us
    const asked call = ask("SELECT 1");
    EXPECT_EQ(call->code, errc::unreachable) << call->text;
    EXPECT_THAT(call->text, HasSubstr("within 300 ms"));
}

TEST_F(DatabaseHostile, AnswersThatAreNoneAreUnknownAndTheConnectionIsNotUsedAgain) {
    const std::string answers[] = {
        "\xff\xff\xff\x01"s,                                     // the beginning of 16 MB
        "\x00\x00\x00\x01"s,                                     // nothing at all
        "\x01\x00\x00\x01\xfe"s,                                 // an end without a beginning
        "\x09\x00\x00\x01\xfe\xff\xff\xff\xff\xff\xff\xff\xff"s, // 2^64 columns
        "\x05\x00\x00\x01\xfd\xff\xff\xff\x00"s,                 // 16 million
        "\x01\x00\x00\x01\x01\x01\x00\x00\x02\x01"s,             // a column without a name
        "\x01\x00\x00\x07\x00"s,                                 // out of order
        "\x01\x00\x00\x01\x00"s,                                 // an OK that is cut
        "\x01\x00\x00\x01\xff"s,                                 // an error without a number
        "\x02\x00\x00\x01\xfb/"s,                                // it wants a file of ours
    };
    for (const std::string& each : answers) {
        ASSERT_EQ(ask("SELECT 1")->value(), "1");
        way().answer_with(each);
        const asked call = ask("SELECT 2");
        EXPECT_TRUE(call->code) << ::testing::PrintToString(each);
        way_.emplace(server().port());
        forget_database();
        how_.servers = {{"127.0.0.1", way_->port()}};
    }
}

TEST_F(DatabaseHostile, AnAnswerThatComesByteByByteIsTheSame) {
    how_.command_timeout = 20s;
    ASSERT_EQ(ask("SELECT 1")->value(), "1");
    way().split(100'000);
    const asked call = ask_all({"SELECT 7", "SELECT NULL, 'abc'", "SELECT 9"});
    EXPECT_EQ(call->value(), "9") << call->text;
}

TEST_F(DatabaseHostile, AnAnswerThatIsCutAnywhereIsUnknown) {
    for (std::size_t length = 1; length < 60; length += 7) {
        ASSERT_EQ(ask("SELECT 1")->value(), "1");
        way().split(length);
        const asked call = ask("SELECT 2");
        EXPECT_EQ(call->code, errc::outcome_unknown) << length << call->text;
        forget_database();
        way_.emplace(server().port());
        how_.servers = {{"127.0.0.1", way_->port()}};
    }
}

} // namespace
} // namespace holdfast
