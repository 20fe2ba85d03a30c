// SPDX-License-Identifier: Apache-2.0
// RedissonLockTest's testLockListener: a JVM hears how locks of ours end.
#include "interop/meeting.hpp"

namespace holdfast::interop {
namespace {

using testing::ElementsAre;

class RedissonListener : public meeting {};
HOLDFAST_ONE_WAY(RedissonListener);

TEST_P(RedissonListener, HearsHowOurHoldsEndUntilItIsRemoved) {
    server().command({"CONFIG", "SET", "notify-keyspace-events", "Egx"});
    remote_lock listening = jvm().thread("a").lock("L"), used = ours().thread("b").lock("L");
    listening.listen();
    used.lock();
    EXPECT_TRUE(used.unlock());
    EXPECT_TRUE(eventually([&] { return !listening.heard().empty(); }));
    const std::unique_ptr<peer> doomed = new_process(false);
    client_of(*doomed, false)->thread("c").lock("L").lock(1s);
    doomed->kill(); // alive, we would give it back a little before it ends
    EXPECT_TRUE(eventually([&] { return listening.heard().size() > 1; }));

    listening.unlisten();
    EXPECT_TRUE(eventually([this] { return server().command({"PUBSUB", "NUMPAT"}).integer == 0; }));
    used.lock();
    EXPECT_TRUE(used.unlock());
    EXPECT_THAT(listening.heard(), ElementsAre("deleted L", "expired L"));
}

} // namespace
} // namespace holdfast::interop
