// SPDX-License-Identifier: Apache-2.0
#include "store/mysql/two_writes.hpp"
#include "support/sim_clock.hpp"
#include "support/thrown.hpp"

#include <boost/asio/co_spawn.hpp>

#include <gmock/gmock.h>

namespace holdfast::mysql {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

class one_connection final : public carrier {
public:
    bool is_cut() const noexcept override { return false; }
    void cut() noexcept override {}
};

/// Answers each statement with its number, counted from the first of all.
class answering_database final : public database {
public:
    asio::awaitable<answers> run(statements& what, call_wishes wishes) override {
        sent.push_back(what.compose(clock, of_server));
        with.push_back(wishes);
        answers said;
        for (std::size_t i = 0; i < std::min(sent.back().size(), answers_most); ++i)
            said.of.push_back({.matched = ++number});
        said.by = line;
        co_return said;
    }
    asio::awaitable<std::shared_ptr<carrier>> connection_to_wait_on(time_point) override {
        co_return nullptr;
    }
    std::optional<server_facts> facts() const override { return of_server; }
    bool has_bells() const override { return false; }
    void no_bells_here() noexcept override {}
    duration command_timeout() const noexcept override { return 1s; }
    std::string address() const override { return "a"; }
    void close() noexcept override {}

    server_facts of_server;
    runtime::remote_clock clock;
    std::shared_ptr<carrier> line = std::make_shared<one_connection>();
    std::vector<std::vector<std::string>> sent;
    std::vector<call_wishes> with;
    std::size_t answers_most = 100;
    std::uint64_t number = 0;
};

class TwoWrites : public ::testing::Test {
protected:
    answers run(asio::awaitable<answers> call) {
        answers got;
        std::exception_ptr failed;
        asio::co_spawn(io_, std::move(call), [&](const std::exception_ptr& why, answers said) {
            failed = why;
            got = std::move(said);
        });
        io_.restart();
        io_.run();
        if (failed)
            std::rethrow_exception(failed);
        return got;
    }

    asio::io_context io_;
    sim::sim_clock clock_{io_};
    const store_context home_{
        .executor = io_.get_executor(), .time = clock_, .random = {}, .label = {}, .tell = {}};
    answering_database server_;
    site at_{.server = server_,
             .context = home_,
             .named = tables{"t"},
             .schema = {},
             .table = {},
             .info = {}};
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
