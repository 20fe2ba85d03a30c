// SPDX-License-Identifier: Apache-2.0
#include "answering_database.hpp"
#include "store/mysql/two_writes.hpp"
#include "support/thrown.hpp"

#include <gmock/gmock.h>

namespace holdfast::mysql {
namespace {

using ::testing::ElementsAre;

class TwoWrites : public on_answering_database {
protected:
    const std::vector<std::string> reading_{"read", "look"};
    const two_writes::maker writing_ = [](const runtime::remote_clock&) {
        return std::vector<std::string>{"write"};
    };
};

TEST_F(TwoWrites, AreOneTransactionOnOneConnection) {
    server_.of_server = {.is_mariadb = true};
    two_writes both{at_, {.reserved = true}};
    run(both.begin(reading_));
    run(both.end(writing_));
    EXPECT_THAT(server_.sent, ElementsAre(ElementsAre("SET SESSION idle_transaction_timeout=3",
                                                      "START TRANSACTION", "read", "look"),
                                          ElementsAre("write", "COMMIT",
                                                      "SET SESSION idle_transaction_timeout=0")));
    EXPECT_TRUE(server_.with[0].leaves_open && server_.with[0].reserved);
    EXPECT_FALSE(server_.with[1].leaves_open);
    EXPECT_TRUE(server_.with[1].reserved);
    EXPECT_EQ(server_.with[1].on, server_.line);
}

TEST_F(TwoWrites, TheAnswersAreThoseToWhatWasAsked) {
    two_writes both{at_};
    const answers said = run(both.begin(reading_));
    ASSERT_EQ(said.of.size(), 2u);
    EXPECT_EQ(said.of[0].matched, 3u);
    EXPECT_EQ(run(both.end(writing_)).of[0].matched, 5u);
}

TEST_F(TwoWrites, MySqlIsGivenItsUsualPatienceBack) {
    server_.of_server = {.idle_limit = 8h};
    two_writes both{at_};
    run(both.begin(reading_));
    run(both.end([](const runtime::remote_clock&) { return std::vector<std::string>{}; }));
    EXPECT_EQ(server_.sent[0][0], "SET SESSION wait_timeout=3");
    EXPECT_THAT(server_.sent[1], ElementsAre("COMMIT", "SET SESSION wait_timeout=28800"));
}

TEST_F(TwoWrites, TooFewAnswersMakeNoSense) {
    server_.answers_most = 2;
    two_writes both{at_};
    EXPECT_EQ(support::code_of([&] { run(both.begin(reading_)); }), store_errc::protocol);
}

} // namespace
} // namespace holdfast::mysql
