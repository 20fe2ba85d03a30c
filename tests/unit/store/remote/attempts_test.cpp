// SPDX-License-Identifier: Apache-2.0
// What a reply tells about earlier requests that got no reply.
#include "runtime/remote_clock.hpp"
#include "store/remote/attempts.hpp"
#include "store/remote/diagnostics.hpp"
#include "support/clocks.hpp"
#include "support/recorder.hpp"

#include <holdfast/error.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/system/system_error.hpp>

#include <exception>
#include <utility>

#include <gtest/gtest.h>

namespace holdfast::remote {
namespace {

using namespace std::chrono_literals;

class Attempts : public ::testing::Test {
protected:
    Attempts() { want_.give_up_at = time_point::max(); }

    /// Returns the result of a request that reached the lock, or that failed before.
    static attempt busy(bool looked_at) {
        attempt found;
        found.not_looked_at = !looked_at;
        return found;
    }
    /// Of one look: sent and answered now.
    error_code look_and_hear(attempt said) {
        said.sent_at = said.received_at = time_.now();
        return look([said](time_point) -> asio::awaitable<attempt> { co_return said; });
    }
    error_code look_and_hear_nothing() {
        return look([](time_point) -> asio::awaitable<attempt> {
            throw boost::system::system_error{make_error_code(errc::outcome_unknown)};
            co_return attempt{};
        });
    }
    void until_none_is_under_way() { time_.run_for(command_timeout + 1ms); }

    asio::io_context io_;
    sim::sim_clock time_{io_};
    attempts& one() { return one_; }

private:
    static constexpr duration command_timeout = 3s;

    error_code look(attempts::sender send) {
        error_code failed;
        const auto ended = [&](const std::exception_ptr& why, const answer&) {
            if (why)
                failed = support::code_of([&] { std::rethrow_exception(why); });
        };
        asio::co_spawn(io_, one_.look(std::move(send), 1h, 1ms), ended);
        EXPECT_TRUE(time_.run_until_idle());
        return failed;
    }

    store_context context_{
        io_.get_executor(), time_, [] { return std::uint64_t{0}; }, {}, {}, {}, {}};
    ask want_{lock_name{"lock"}, owner_id{}, lock_kind::plain};
    attempts one_{context_, want_, command_timeout};
};

TEST_F(Attempts, ALaterLookThatFindsItBusyEndsTheUncertainty) {
    EXPECT_EQ(look_and_hear_nothing(), errc::outcome_unknown);
    EXPECT_TRUE(one().uncertain());
    until_none_is_under_way();
    EXPECT_FALSE(look_and_hear(busy(true)));
    EXPECT_FALSE(one().uncertain());
    EXPECT_FALSE(one().must_leave());
}

TEST_F(Attempts, WhoDidNotComeToTheLockSaysNothingOfWhatWasThereBefore) {
    look_and_hear_nothing();
    until_none_is_under_way();
    EXPECT_FALSE(look_and_hear(busy(false)));
    EXPECT_TRUE(one().uncertain());
    EXPECT_TRUE(one().must_leave());
    EXPECT_FALSE(look_and_hear(busy(true)));
    EXPECT_FALSE(one().uncertain());
}

TEST_F(Attempts, WhoDidNotComeToTheLockIsNotUncertainByThat) {
    EXPECT_FALSE(look_and_hear(busy(false)));
    EXPECT_FALSE(one().uncertain());
    EXPECT_FALSE(one().must_leave());
}

TEST(TrialFindings, ALeaseIsShortForAWayThatTakesATenthOfIt) {
    EXPECT_EQ(judge_delay(100ms, 1s).how_bad, severity::fine);
    EXPECT_EQ(judge_delay(100ms, 1s).remedy, "");
    const finding slow = judge_delay(101ms, 1s);
    EXPECT_EQ(slow.how_bad, severity::warning);
    EXPECT_EQ(slow.what, "The server replied within 101 ms.");
    EXPECT_EQ(slow.remedy,
              "A lease time of 1000 ms is short for such slow replies. Use a longer lease_time.");
}

TEST(TrialFindings, ClocksThatAreASecondApartAreNoted) {
    const auto now = runtime::wall_clock_time();
    EXPECT_EQ(judge_clock(now).how_bad, severity::fine);
    EXPECT_EQ(judge_clock(now + 1h).how_bad, severity::note);
    EXPECT_EQ(judge_clock(now - 1h).how_bad, severity::note);
    EXPECT_NE(judge_clock(now + 1h).what.find(" s ahead of the clock"), std::string::npos);
    EXPECT_NE(judge_clock(now - 1h).what.find(" s behind the clock"), std::string::npos);
    EXPECT_EQ(judge_clock(now - 1h).what.find('-'), std::string::npos) << "the number is positive";
}

} // namespace
} // namespace holdfast::remote
