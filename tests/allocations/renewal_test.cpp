// SPDX-License-Identifier: Apache-2.0
// Counts the allocations that are needed to renew many leases. The store grants everything and
// allocates nothing itself, so all counted allocations are those of the library.
#include "allocations/counted.hpp"
#include "store/redis/lock_requests.hpp"
#include "support/holds.hpp"
#include "support/wrapped_store.hpp"
#include "unit/sync/stage.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <memory>
#include <vector>

namespace holdfast::allocations {
namespace {

using namespace std::chrono_literals;

/// A name is longer than a string can keep within itself, so that a copy of it is seen.
std::string name_of(int i) {
    return "warehouse:shelf:" + std::to_string(10'000 + i);
}

/// Real in all but renewing.
class yes_sayer final : public support::wrapped_locks {
public:
    using wrapped_locks::wrapped_locks;

    asio::awaitable<void> renew(hold_list holds, const renewal_options& how,
                                renewal_sink& to) override {
        ++requests;
        renewed += holds.size();
        for (std::size_t i = 0; i < holds.size(); ++i)
            to.renewed(i, answer{.granted = true, .term = how.lease_time});
        co_return;
    }

    std::size_t requests = 0, renewed = 0;
};

/// Allocations of a whole batch: its lists, which grow, and the call itself.
constexpr std::size_t per_batch = 60;
constexpr std::size_t batch = sync::renewal::batch_holds_max;
static_assert(4 * per_batch < batch, "one for each hold would not be seen");

TEST(Renewal, AllocatesNothingForAHold) {
    asio::io_context io;
    sim::sim_clock clock{io};
    memory::server server{clock};
    yes_sayer* yes = nullptr;
    std::vector<lease> held;
    client home{io.get_executor(), clock,
                options{.store =
                            [&](store_context context) {
                                auto made = std::make_unique<support::wrapped_store<yes_sayer>>(
                                    server.connect()(std::move(context)));
                                yes = &made->locks();
                                return made;
                            },
                        .random = [] { return 0; }}};
    constexpr int leases = 4 * static_cast<int>(batch);
    for (int i = 0; i < leases; ++i) {
        mutex lock{home, name_of(i)};
        support::said<lease> taken;
        lock.async_lock(taken.handler());
        clock.run_for(0ms);
        held.push_back(taken.take());
    }
    clock.run_for(1min); // until nothing grows any more
    const std::size_t requests_before = yes->requests, renewed_before = yes->renewed;
    const counted ours;
    clock.run_for(10min);
    const std::size_t allocations = ours.so_far();
    const std::size_t requests = yes->requests - requests_before;
    EXPECT_EQ(yes->renewed - renewed_before, 60u * leases);
    EXPECT_EQ(requests, 60u * 4) << "full companies";
    EXPECT_LE(allocations, requests * per_batch);
    held.clear();
}

/// Answers yes, with what was made before it was asked.
class yes_node final : public redis::node {
public:
    explicit yes_node(std::size_t names) {
        redis::reply yes;
        yes.type = redis::reply::kind::integer;
        yes.integer = 1;
        answer_.type = redis::reply::kind::array;
        answer_.items.assign(names, yes);
    }
    asio::awaitable<redis::reply> call(const redis::script&, std::span<const std::string_view>,
                                       std::span<const redis::argument>,
                                       redis::call_options) override {
        co_return std::move(answer_);
    }
    void distrust(const redis::reply&) noexcept override {}
    std::unique_ptr<redis::hearing> hear(redis::channel_name, alarm&, redis::linger) override {
        return nullptr;
    }
    bool hears(const redis::channel_name&) const override { return false; }
    duration command_timeout() const noexcept override { return 1s; }
    void close() noexcept override {}

private:
    redis::reply answer_;
};

TEST(Renewal, ItsScriptIsWrittenWithoutACopyOfAnything) {
    constexpr int names = 100;
    std::vector<hold> holds;
    for (int i = 0; i < names; ++i)
        holds.emplace_back(name_of(i), owner_id{{}, 1'000'000'000}, lock_kind::plain);
    const std::vector<const hold*> list = support::listed(holds);
    asio::io_context io;
    yes_node server{names};
    std::size_t allocations = 0;
    auto ask = [&]() -> asio::awaitable<void> {
        const renewal_options how{.lease_time = 30s};
        support::renewal_record record{names};
        const counted ours;
        co_await redis::renew_holds(server, io.get_executor(), list, how, record);
        allocations = ours.so_far();
        EXPECT_TRUE(record.said.at(names - 1)->granted);
    };
    asio::co_spawn(io, ask(), asio::detached);
    io.run();
    EXPECT_GT(allocations, 0u) << "nothing is counted";
    EXPECT_LE(allocations, 10u);
}

} // namespace
} // namespace holdfast::allocations
