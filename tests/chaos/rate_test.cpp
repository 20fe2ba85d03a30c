// SPDX-License-Identifier: Apache-2.0
// A rate limiter on a bad way to the server: a draw counts once, and one that nobody has does not
// count.
#include "chaos/on_proxy.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/use_future.hpp>

#include <cstdint>
#include <future>

namespace holdfast::chaos {
namespace {

class ChaosOfRates : public on_proxy {
protected:
    using on_proxy::on_proxy;

    void SetUp() override {
        on_proxy::SetUp();
        if (IsSkipped() || HasFatalFailure())
            return;
        home_.emplace(through_proxy());
        mails_.emplace(*home_, "L");
        begin();
    }

    /// Nothing is drawn of nine in an hour.
    void begin() {
        server().command({"DEL", "L", "{L}:value", "{L}:permits"});
        server().command(
            {"HSET", "L", "rate", "9", "interval", "3600000", "type", "0", "keepAliveTime", "0"});
    }
    std::int64_t draws() { return server().command({"ZCARD", "{L}:permits"}).integer; }
    std::int64_t left() {
        const std::string number = server().command({"GET", "{L}:value"}).text;
        return number.empty() ? 9 : std::stoll(number);
    }

    std::int64_t scripts_run() { return calls_of("eval") + calls_of("evalsha"); }

    std::optional<client> home_;
    std::optional<rate_limiter> mails_;
};
HOLDFAST_ON_EACH_SERVER(ChaosOfRates);

TEST_P(ChaosOfRates, ADrawThatIsAnsweredAtEachByteCountsOnce) {
    cut_at_every_byte(
        way::answers, [this] { begin(); }, [this] { mails_->acquire(3); },
        [this] {
            EXPECT_EQ(left(), 6);
            EXPECT_EQ(draws(), 1);
        });
}

TEST_P(ChaosOfRates, WhatIsReleasedAndAnsweredAtEachByteIsReleasedOnce) {
    cut_at_every_byte(
        way::answers,
        [this] {
            begin();
            mails_->acquire(5);
        },
        [this] { mails_->release(2); }, [this] { EXPECT_EQ(left(), 6); });
}

TEST_P(ChaosOfRates, ARateThatIsSetAtEachByteForgetsWhatWasDrawnOnce) {
    cut_at_every_byte(
        way::answers, [this] { begin(); },
        [this] {
            mails_->set_rate({.permits = 4, .per = 1h});
            mails_->acquire();
        },
        [this] {
            EXPECT_EQ(left(), 3);
            EXPECT_EQ(draws(), 1);
        });
}

TEST_P(ChaosOfRates, ADrawWhoseAnswerIsLostCountsOnce) {
    proxy().lose_answer_to("{L}:permits");
    mails_->acquire(4);
    EXPECT_EQ(left(), 5);
    EXPECT_EQ(draws(), 1);
    proxy().lose_answer_to("{L}:permits");
    EXPECT_TRUE(mails_->try_acquire_for(10s, 5));
    EXPECT_EQ(left(), 0);
    EXPECT_FALSE(mails_->try_acquire());
}

TEST_P(ChaosOfRates, WhatACancelledCallerMayHaveDrawnIsGivenBack) {
    mails_->acquire(); // the script is there then
    const std::int64_t before = scripts_run();
    asio::cancellation_signal stop;
    proxy().hold_back();
    std::future<void> waits =
        mails_->async_acquire(4, asio::bind_cancellation_slot(stop.slot(), asio::use_future));
    ASSERT_TRUE(eventually([&] { return proxy().bytes_held() > 0; }));
    stop.emit(asio::cancellation_type::terminal);
    EXPECT_EQ(thrown_by([&] { soon(std::move(waits)); }).code, asio::error::operation_aborted);
    proxy().let_go();
    ASSERT_TRUE(eventually([&] { return scripts_run() >= before + 2; }))
        << "a draw, and what gives it back";
    EXPECT_TRUE(eventually([&] { return left() == 8 && draws() == 1; }));
}

// [N4]
TEST_P(ChaosOfRates, ADrawThatIsHeldUpAndGivenUpDoesNotCountAfterwards) {
    options how = through_proxy();
    how.unavailable_patience = 1ms;
    how.close_patience = 0ms;
    client hasty{how};
    rate_limiter mails{hasty, "L"};
    mails.acquire();
    proxy().hold_back();
    EXPECT_EQ(thrown_by([&] { mails.acquire(4); }).code, errc::outcome_unknown);
    hasty.close();
    EXPECT_GT(proxy().bytes_held(), 0U);
    const std::int64_t before = calls_of("evalsha");
    proxy().let_go();
    ASSERT_TRUE(eventually([&] { return calls_of("evalsha") > before; })) << "nothing has arrived";
    EXPECT_TRUE(eventually([&] { return left() == 8 && draws() == 1; }));
}

class ChaosOfRatesInOutages : public ChaosOfRates {
protected:
    ChaosOfRatesInOutages()
        : ChaosOfRates{{.arguments = {"--appendonly", "yes", "--appendfsync", "always"}}} {}

    void SetUp() override {
        ChaosOfRates::SetUp();
        if (IsSkipped() || HasFatalFailure())
            return;
        options how = through_proxy();
        how.poll_bound = 50ms; // nobody is told when there is more
        frequent_.emplace(how);
        asked_.emplace(*frequent_, "L");
    }
    /// Nothing is left, and somebody has been told so.
    std::future<support::thrown> wait_for_one() {
        asked_->acquire(9);
        const std::int64_t before = scripts_run();
        std::future<support::thrown> waits = std::async(
            std::launch::async, [this] { return thrown_by([this] { asked_->acquire(); }); });
        EXPECT_TRUE(eventually([&] { return scripts_run() > before; }));
        return waits;
    }
    void stop() {
        server().stop();
        ASSERT_TRUE(eventually([&] { return told_->count(event_kind::disconnected) > 0; }));
    }

    std::optional<client> frequent_;
    std::optional<rate_limiter> asked_;
};
HOLDFAST_ON_EACH_SERVER(ChaosOfRatesInOutages);

TEST_P(ChaosOfRatesInOutages, WhatWasDrawnCountsAfterThemAndWhoWaitsIsServed) {
    client other{directly()};
    rate_limiter theirs{other, "L"};
    std::future<support::thrown> waits = wait_for_one();
    stop();
    server().start();
    EXPECT_EQ(theirs.available_permits(), 0);
    EXPECT_FALSE(support::is_ready(waits));
    theirs.release(2);
    EXPECT_EQ(soon(std::move(waits)).code, error_code{});
    EXPECT_EQ(left(), 1);
}

TEST_P(ChaosOfRatesInOutages, WhoWaitsIsToldWhereTheServerForgotTheRate) {
    std::future<support::thrown> waits = wait_for_one();
    stop();
    server().restart_empty({});
    const support::thrown why = soon(std::move(waits));
    EXPECT_EQ(why.code, errc::refused);
    EXPECT_THAT(why.text, testing::HasSubstr("the rate limiter is not set"));
}

} // namespace
} // namespace holdfast::chaos
