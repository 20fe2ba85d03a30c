// SPDX-License-Identifier: Apache-2.0
// Spin locks of two clients on a real server.
#include "support/eventually.hpp"
#include "support/on_each_server.hpp"

#include <holdfast/client.hpp>
#include <holdfast/spin_mutex.hpp>

#include <atomic>
#include <chrono>
#include <future>
#include <string>

#include <gtest/gtest.h>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using support::eventually;

class SpinTurnsOnServer : public support::on_each_server {
protected:
    /// Returns how many scripts the server has executed.
    std::int64_t scripts() {
        const std::string all = server().command({"INFO", "commandstats"}).text;
        const std::string field = "cmdstat_evalsha:calls=";
        const std::size_t at = all.find(field);
        return at == all.npos ? 0 : std::stoll(all.substr(at + field.size()));
    }
};
HOLDFAST_ON_EACH_SERVER(SpinTurnsOnServer);

// The waiter polls only while the other client has the lock, because the other client takes it
// again less than a millisecond after each release.
TEST_P(SpinTurnsOnServer, ClientThatTakesItAgainAtOnceLetsOthersHaveIt) {
    constexpr int turns_max = 50;
    client alice{server().url()}, bob{server().url()};
    spin_mutex hers{alice, "stock", {.polls = {200ms, 200ms}}};
    spin_mutex his{bob, "stock", {.polls = {30ms, 30ms}}};
    hers.lock();
    std::atomic<bool> served = false;
    std::future<void> waiting = std::async(std::launch::async, [&] {
        his.lock();
        served = true;
        his.unlock();
    });
    int turns = 0;
    for (; !served && turns < turns_max; ++turns) {
        const std::int64_t before = scripts();
        EXPECT_TRUE(eventually([&] { return scripts() > before + 2; })) << "nobody polls";
        hers.unlock();
        hers.lock();
    }
    EXPECT_TRUE(served) << "after " << turns << " turns of the other client";
    hers.unlock();
    support::soon(std::move(waiting));
}

} // namespace
} // namespace holdfast
