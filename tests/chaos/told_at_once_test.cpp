// SPDX-License-Identifier: Apache-2.0
// A server that comes back without the locks: their holders are told as soon as it answers, and not
// at the next renewal, which is minutes away here. How long that took is printed.
#include "chaos/on_proxy.hpp"

#include <atomic>
#include <chrono>
#include <deque>
#include <iostream>
#include <optional>
#include <stop_token>

namespace holdfast::chaos {
namespace {

/// No renewal is due within a test.
constexpr duration long_lease = 1h;

/// Notes when a connection was there again.
class homecoming final : public observer {
public:
    void notify(const event& e) noexcept override {
        if (e.kind == event_kind::reconnected && at_.load() == duration::zero())
            at_ = boot_clock::now().time_since_epoch();
    }
    duration at() const { return at_.load(); }

private:
    std::atomic<duration> at_{};
};

class ToldAtOnce : public on_proxy {
protected:
    /// Takes so many locks, lets the server forget them, and waits until every holder was told.
    void lose_all(std::size_t count) {
        const auto back = std::make_shared<homecoming>();
        options how = directly();
        how.lease_time = long_lease;
        how.observer = back;
        client home{how};
        std::deque<mutex> locks;
        std::atomic<std::size_t> taken = 0, lost = 0;
        std::vector<lease> held(count);
        for (std::size_t i = 0; i < count; ++i) {
            locks.emplace_back(home, "L" + std::to_string(i));
            locks.back().async_lock([&, i](const error_code& ec, lease mine) {
                held[i] = std::move(mine);
                taken += ec ? 0 : 1;
            });
        }
        ASSERT_TRUE(eventually([&] { return taken == count; }));
        std::atomic<duration> told_last{};
        auto count_it = [&] {
            told_last = boot_clock::now().time_since_epoch();
            ++lost;
        };
        std::deque<std::optional<std::stop_callback<decltype(count_it)>>> callbacks;
        for (const lease& mine : held)
            callbacks.emplace_back().emplace(mine.lost(), count_it);
        server().restart_empty();
        ASSERT_TRUE(eventually([&] { return lost == count; })) << lost << " of " << count;
        const duration took = told_last.load() - back->at();
        std::cout << count << " holds: told within " << took.count() << " ms\n";
        RecordProperty("told_within_ms", static_cast<int>(took.count()));
    }
};
HOLDFAST_ON_EACH_SERVER(ToldAtOnce);

TEST_P(ToldAtOnce, OneHold) {
    lose_all(1);
}

TEST_P(ToldAtOnce, TenThousandHolds) {
    lose_all(10'000);
}

} // namespace
} // namespace holdfast::chaos
