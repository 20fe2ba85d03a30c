// SPDX-License-Identifier: Apache-2.0
// A release that is not waited for, on each way to a real server: what the same thread asks next
// comes behind it.
#include "support/on_each_server.hpp"

#include <holdfast/client.hpp>
#include <holdfast/mutex.hpp>

#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace holdfast {
namespace {

class DeferredOnServer : public support::on_each_server {
protected:
    /// How often of so many times it was busy behind this thread's own release.
    static int overtaken(client& home, const std::string& name, int rounds) {
        mutex stock{home, name, deferred_release};
        int busy = 0;
        stock.lock();
        for (int i = 0; i < rounds; ++i) {
            stock.unlock();
            if (!stock.try_lock()) {
                ++busy;
                stock.lock();
            }
        }
        stock.unlock();
        return busy;
    }

    /// The same by many threads, each with a lock of its own.
    static int overtaken_by_threads(client& home, int threads, int rounds) {
        std::vector<int> busy(static_cast<std::size_t>(threads));
        std::vector<std::thread> all;
        for (int i = 0; i < threads; ++i)
            all.emplace_back([&, i] {
                busy[static_cast<std::size_t>(i)] =
                    overtaken(home, "stock" + std::to_string(i), rounds);
            });
        int sum = 0;
        for (int i = 0; i < threads; ++i) {
            all[static_cast<std::size_t>(i)].join();
            sum += busy[static_cast<std::size_t>(i)];
        }
        return sum;
    }
};
HOLDFAST_ON_EACH_SERVER(DeferredOnServer);

TEST_P(DeferredOnServer, IsNotOvertakenWithoutLanes) {
    client home{server().url() + "?lanes_max=0"};
    EXPECT_EQ(overtaken(home, "stock", 500), 0);
}

TEST_P(DeferredOnServer, IsNotOvertakenWhileTheFirstLaneIsMade) {
    for (int i = 0; i < 10; ++i) {
        client home{server().url()};
        EXPECT_EQ(overtaken(home, "stock", 50), 0);
    }
}

TEST_P(DeferredOnServer, IsNotOvertakenOnAnotherLane) {
    client home{server().url() + "?lanes_max=4"};
    EXPECT_EQ(overtaken_by_threads(home, 4, 500), 0);
}

TEST_P(DeferredOnServer, IsNotOvertakenByAVisitorWhereLanesAreFew) {
    client home{server().url() + "?lanes_max=2"};
    EXPECT_EQ(overtaken_by_threads(home, 6, 300), 0);
}

} // namespace
} // namespace holdfast
