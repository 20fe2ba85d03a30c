// SPDX-License-Identifier: Apache-2.0
// A URL for one server that leads to a node of a cluster.
#include "support/on_each_topology.hpp"
#include "support/redis_cluster.hpp"
#include "support/thrown.hpp"

#include <holdfast/client.hpp>
#include <holdfast/mutex.hpp>

#include <string>

#include <gmock/gmock.h>

namespace holdfast {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class OneAddressOfACluster : public support::on_each_topology<support::redis_cluster> {};
HOLDFAST_ON_EACH_SERVER(OneAddressOfACluster);

TEST_P(OneAddressOfACluster, IsToldWithTheUrlOfTheCluster) {
    support::redis_server& node = servers().node_of("here");
    std::string there = "there";
    while (&servers().node_of(there) == &node)
        there += '!';
    redis::options where;
    where.port = servers().port_of(node);
    holdfast::options how;
    how.store = redis::make_store(where);
    client home{how};
    mutex lock{home, there};
    for (int i = 0; i < 10; ++i) { // over the shared connection, and over a lane
        const auto why = support::thrown_by([&] { lock.lock(); });
        EXPECT_EQ(why.code, make_error_code(store_errc::wrong_address)) << why.text;
        EXPECT_THAT(why.text, AllOf(StartsWith("MOVED "), HasSubstr("redis+cluster://127.0.0.1:" +
                                                                    std::to_string(where.port))));
    }
}

} // namespace
} // namespace holdfast
