// SPDX-License-Identifier: Apache-2.0
// Calls to what is no Redis, or one that sends us elsewhere: each ends in time, typed and worded,
// and a server that makes sense again is used again.
#include "node_fixture.hpp"

#include <ostream>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

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

} // namespace
} // namespace holdfast
