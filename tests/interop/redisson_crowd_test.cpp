// SPDX-License-Identifier: Apache-2.0
// Those tests of Redisson's RedissonLockTest and RedissonLockHeavyTest that take a crowd, half of
// it in a JVM and half of it ours: README.md says which test is which.
#include "interop/crowd.hpp"
#include "interop/meeting.hpp"
#include "interop/server_state.hpp"

#include <algorithm>
#include <numeric>

namespace holdfast::interop {
namespace {

class RedissonCrowd : public meeting {
protected:
    /// So many clients of each side, each with so many threads, work until they were granted
    /// `grants` locks together, and each client one at least. Nobody may ever be disturbed.
    history all_work(int clients, int threads, const task& what, std::size_t grants) {
        const history_folder folder;
        std::vector<std::unique_ptr<remote_crew>> crews;
        for (int i = 0; i < clients; ++i)
            for (const bool is_jvm : {true, false})
                clients_.push_back(another(is_jvm));
        for (const auto& each : clients_)
            crews.push_back(
                std::make_unique<remote_crew>(*each, threads, what, folder.path / each->label()));
        std::vector<std::size_t> granted(crews.size());
        EXPECT_TRUE(eventually([&] {
            for (std::size_t i = 0; i < crews.size(); ++i)
                granted[i] += crews[i]->new_grants().size();
            return std::reduce(granted.begin(), granted.end()) >= grants &&
                   !std::ranges::count(granted, 0u);
        })) << testing::PrintToString(granted);
        history told;
        for (const auto& each : crews)
            told.add(each->stop());
        EXPECT_THAT(overlaps(told.claims), testing::IsEmpty());
        EXPECT_THAT(told.troubles, testing::IsEmpty());
        return told;
    }

    void close_ours() {
        std::erase_if(clients_, [](const auto& each) { return !each->is_jvm(); });
    }

private:
    std::vector<std::unique_ptr<remote_client>> clients_;
};
HOLDFAST_ONE_WAY(RedissonCrowd);

TEST_P(RedissonCrowd, ThreadsOfOneClientEnterOneAfterTheOther) {
    all_work(1, 8, {{"lock"}, {{}}}, 300);
}

TEST_P(RedissonCrowd, ClientsEnterOneAfterTheOther) {
    all_work(8, 1, {{"lock"}, {{.hold = 1ms}}}, 1'600);
}

TEST_P(RedissonCrowd, OfManyClientsEachIsServed) {
    all_work(16, 1, {{"lock"}, {{.pause = 5ms}}}, 0);
}

TEST_P(RedissonCrowd, ManyTriesAtOnceGrantToOneAndDisturbNobodysRenewal) {
    const history told = all_work(1, 8, {{"lock"}, {{.patience = 0ms, .pause = 1ms}}}, 1'000);
    EXPECT_GT(told.gave_up, 0u);
}

TEST_P(RedissonCrowd, AJvmWithOneSubscriptionIsServedOnManyNames) {
    have_clients({.redisson_server = {{"subscriptionConnectionMinimumIdleSize", 1},
                                      {"subscriptionConnectionPoolSize", 1},
                                      {"subscriptionsPerConnection", 1}}});
    all_work(1, 16, {{"1", "2", "3", "4", "5"}, {{.patience = 100ms, .hold = 1ms}}}, 1'000);
    close_ours(); // who go on listening for a while
    EXPECT_TRUE(eventually([this] {
        return server().command({"PUBSUB", "CHANNELS"}).items.empty();
    }));
}

TEST_P(RedissonCrowd, AThousandNamesAreAThousandLocks) {
    task what{{}, {{}, {.patience = 5ms}, {.depth = 2}}};
    for (int i = 0; i < 1'000; ++i)
        what.names.push_back("name:" + std::to_string(i));
    all_work(1, 10, what, 3'000);
    EXPECT_TRUE(state_of(server()).empty());
}

} // namespace
} // namespace holdfast::interop
