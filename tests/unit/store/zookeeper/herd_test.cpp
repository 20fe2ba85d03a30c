// SPDX-License-Identifier: Apache-2.0
// What a long line costs: whole clients, each with a loop of its own that waits.
#include "unit/store/zookeeper/world.hpp"

#include <boost/asio/detached.hpp>

namespace holdfast::zookeeper {
namespace {

class Herd : public world {
protected:
    asio::awaitable<void> take_turn(party& who, int& served, int& inside, bool& well) {
        const ask want = who.wish("lock");
        const std::unique_ptr<alarm> wake = clock.make_alarm();
        const auto spot = who.store->locks().line_up(want, *wake);
        for (;;) {
            const answer said = co_await spot->look();
            if (said.granted)
                break;
            co_await wake->wait_until(clock.now() + said.term);
        }
        well = well && ++inside == 1;
        const std::unique_ptr<alarm> work = clock.make_alarm();
        co_await work->wait_until(clock.now() + 2ms);
        --inside;
        well = well && (co_await who.store->locks().release(want)).was_ours;
        ++served;
    }
};

TEST_F(Herd, AQueueOfFiveHundredHasNoHerd) {
    constexpr int waiters = 500;
    int served = 0, inside = 0;
    bool well = true;
    model.make("/holdfast/lock", node_mode::container, 0);
    for (int i = 0; i < waiters; ++i)
        asio::co_spawn(io, take_turn(enter(), served, inside, well), asio::detached);
    clock.run_for(10s);
    EXPECT_EQ(served, waiters);
    EXPECT_TRUE(well);
    const zookeeper_model::figures all = model.so_far();
    EXPECT_LE(static_cast<double>(all.lists) / waiters, 2.3);
    EXPECT_LE(static_cast<double>(all.watches) / waiters, 1.2);
    EXPECT_GE(all.watches, std::size_t{waiters - 1});
}

} // namespace
} // namespace holdfast::zookeeper
