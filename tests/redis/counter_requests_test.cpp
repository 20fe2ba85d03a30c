// SPDX-License-Identifier: Apache-2.0
// Requests that change a counter, when more of them fail than a client has request slots for.
#include "store/redis/counter_requests.hpp"
#include "support/on_each_server.hpp"
#include "support/thrown.hpp"

#include <holdfast/client.hpp>
#include <holdfast/counting_semaphore.hpp>

#include <gtest/gtest.h>

namespace holdfast {
namespace {

class CounterRequests : public support::on_each_server {};
HOLDFAST_ON_EACH_SERVER(CounterRequests);

TEST_P(CounterRequests, FailedChangesLeaveTheirSlotsToTheNextOnes) {
    client home{server().url()};
    counting_semaphore seats{home, "seats"};
    server().command({"RPUSH", "seats", "not a number"});
    for (std::size_t i = 0; i <= redis::request_slots::of_one_name_max; ++i)
        ASSERT_NE(support::code_of([&] { seats.release(); }), errc::overloaded) << i;
    server().command({"SET", "seats", "5"});
    EXPECT_TRUE(seats.try_acquire());
    seats.release();
    EXPECT_EQ(seats.available_permits(), 5);
}

} // namespace
} // namespace holdfast
