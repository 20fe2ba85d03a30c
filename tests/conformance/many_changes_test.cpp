// SPDX-License-Identifier: Apache-2.0
// More changes of one counter at once than a client has request slots for.
#include "conformance/suite.hpp"

#include <holdfast/counting_semaphore.hpp>

#include <boost/asio/use_future.hpp>

#include <future>
#include <vector>

namespace holdfast::conformance {
namespace {

class ManyChanges : public suite {};
HOLDFAST_ON_EACH_STORE_THAT_HAS(ManyChanges, counter_kind::semaphore);

TEST_P(ManyChanges, ReleasesAtOnceAreAllCarriedOut) {
    constexpr int releases = 2000; // a client on Redis has 1,024 request slots
    client home = make_client();
    counting_semaphore seats{home, "seats"};
    ASSERT_TRUE(seats.try_set_permits(0));
    std::vector<std::future<void>> all;
    for (int i = 0; i < releases; ++i)
        all.push_back(seats.async_release(1, asio::use_future));
    for (std::future<void>& each : all)
        EXPECT_NO_THROW(each.get());
    EXPECT_EQ(seats.available_permits(), releases);
}

} // namespace
} // namespace holdfast::conformance
