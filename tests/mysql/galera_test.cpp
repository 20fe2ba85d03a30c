// SPDX-License-Identifier: Apache-2.0
// Two servers of a Galera cluster, which both accept writes, still grant a lock only once.
#include "mysql/store_fixture.hpp"
#include "support/galera_nodes.hpp"
#include "support/on_each_server.hpp"

#include <iterator>
#include <memory>

namespace holdfast::mysql {
namespace {

class TwoWritableGaleraNodes : public ::testing::Test {
protected:
    void SetUp() override {
        support::make_or_skip([this] { nodes_ = std::make_unique<support::galera_nodes>(); });
        if (!nodes_)
            return;
        for (const std::string& each : making(in_schema))
            (*nodes_)[0].sql(each);
    }

    client at(std::size_t node) {
        return client_of(reaching((*nodes_)[node]),
                         {.unavailable_timeout = 10s, .hand_off = {.times_max = 0}});
    }

    /// What four clients claimed, two at each node, until they have enough. `work` takes and
    /// releases with a client until it is over.
    template <typename Work>
    claims claimed(Work work) {
        std::atomic<bool> over = false;
        std::vector<std::future<claims>> all;
        for (std::size_t i = 0; i < 4; ++i)
            all.push_back(std::async(std::launch::async, [&, i] {
                client home = at(i % 2);
                return work(home, over, i);
            }));
        const auto token = [&] {
            return (*nodes_)[0].value("SELECT COUNT(*) FROM " + in_schema.locks);
        };
        const auto end = std::chrono::steady_clock::now() + 3s;
        EXPECT_TRUE(support::eventually(
            [&] { return token() != "0" && std::chrono::steady_clock::now() > end; }));
        over = true;
        claims together;
        for (auto& each : all)
            std::ranges::move(support::soon(std::move(each)), std::back_inserter(together));
        return together;
    }

    std::unique_ptr<support::galera_nodes> nodes_;
};

TEST_F(TwoWritableGaleraNodes, GrantOnce) {
    const claims all = claimed([](client& home, const std::atomic<bool>& over, std::size_t) {
        fenced_mutex lock{home, "stock"};
        return take_and_release(
            over, [&] { return lock.async_try_lock_for(500ms, boost::asio::use_future); });
    });
    EXPECT_GT(all.size(), 10U);
    expect_no_overlap(all);
    expect_tokens_grow(all);
}

TEST_F(TwoWritableGaleraNodes, LetNoReaderInBesideAWriter) {
    const claims all = claimed([](client& home, const std::atomic<bool>& over, std::size_t who) {
        shared_mutex lock{home, "stock"};
        if (who < 2)
            return take_and_release(
                over, [&] { return lock.async_try_lock_for(500ms, boost::asio::use_future); });
        return take_and_release(
            over, [&] { return lock.async_try_lock_shared_for(500ms, boost::asio::use_future); },
            true);
    });
    EXPECT_GT(all.size(), 10U);
    expect_no_overlap(all);
}

} // namespace
} // namespace holdfast::mysql
