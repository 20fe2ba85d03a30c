// SPDX-License-Identifier: Apache-2.0
// What several scripts have in common, where no request of today needs all of it.
#include "scripts_fixture.hpp"

namespace holdfast {
namespace {

using support::integers_of;
using ::testing::ElementsAre;

class ScriptParts : public on_scripts {};
HOLDFAST_ON_EACH_SERVER(ScriptParts);

TEST_P(ScriptParts, TwoWaysToTellAreAddedUp) {
    support::redis_connection by_channel{server().socket_path()};
    support::redis_connection by_shard{server().socket_path()};
    by_channel.command({"SUBSCRIBE", channel_});
    by_shard.command({"SSUBSCRIBE", channel_});
    lock(alice, 10'000);
    const redis::reply said =
        run(redis::scripts::release_mutex, {name_}, {alice, channel_, "PUBLISH", "SPUBLISH"});
    EXPECT_THAT(integers_of(said), ElementsAre(1, 2));
    EXPECT_TRUE(by_channel.next_message(std::chrono::seconds{10}));
    EXPECT_TRUE(by_shard.next_message(std::chrono::seconds{10}));
}

TEST_P(ScriptParts, OneWayThatIsDeniedIsTold) {
    lock(alice, 10'000);
    server().command({"ACL", "SETUSER", "default", "-spublish"});
    const redis::reply said =
        run(redis::scripts::release_mutex, {name_}, {alice, channel_, "PUBLISH", "SPUBLISH"});
    EXPECT_THAT(integers_of(said), ElementsAre(1, -1));
    EXPECT_FALSE(exists());
}

} // namespace
} // namespace holdfast
