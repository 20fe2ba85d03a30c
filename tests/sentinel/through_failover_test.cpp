// SPDX-License-Identifier: Apache-2.0
// Whatever clients do goes on while the Sentinels appoint another primary: nothing fails but what
// would count twice, or does not wait that long.
#include "sentinel/with_sentinels.hpp"

#include <boost/asio/use_future.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <shared_mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using support::eventually;
using support::soon;
using support::thrown_by;

/// Threads that do something again and again, until the object goes.
class workers {
public:
    ~workers() { stop(); }

    /// It must not fail.
    void add(std::string name, std::function<void()> work) {
        add_one(std::move(name), std::move(work), false);
    }
    /// It may fail where there is no primary for longer than it waits, and as not known: nobody
    /// sends twice what counts twice.
    void add_fallible(std::string name, std::function<void()> work) {
        add_one(std::move(name), std::move(work), true);
    }

    /// Each of them has begun another round, and ended it.
    void expect_all_go_on() const {
        for (const auto& each : all_)
            EXPECT_TRUE(eventually([&, before = each->rounds.load()] {
                return each->rounds >= before + 2;
            })) << each->name;
    }

private:
    struct worker {
        std::string name;
        std::atomic<int> rounds = 0;
        std::thread thread{};
    };

    void add_one(std::string name, std::function<void()> work, bool may_fail) {
        worker& mine = *all_.emplace_back(std::make_unique<worker>(std::move(name)));
        mine.thread = std::thread{[this, work = std::move(work), &mine, may_fail] {
            for (; !stopped_; ++mine.rounds) {
                const auto why = thrown_by(work);
                EXPECT_TRUE(!why.code || (may_fail && (why.code == errc::outcome_unknown ||
                                                       why.code == errc::unreachable)))
                    << mine.name << ": " << why.text;
            }
        }};
    }
    void stop() {
        stopped_ = true;
        for (const auto& each : all_)
            each->thread.join();
    }

    std::atomic<bool> stopped_ = false;
    std::vector<std::unique_ptr<worker>> all_;
};

class ThroughFailover : public with_sentinels {
protected:
    /// A hold stays no longer whose release was lost with the old primary, nor does a place in a
    /// queue whose owner has gone.
    static constexpr auto lease_time = 2s, waiter_patience = 14s;

    /// Everything that the servers are asked for.
    static void use_all(workers& all, client& home, client& other) {
        for (client* const each : {&home, &other}) {
            all.add("a thread that locks", [each] {
                mutex lock{*each, "L"};
                const std::scoped_lock held{lock};
            });
            all.add("a lease", [each] {
                soon(mutex{*each, "L"}.async_lock(asio::use_future)).unlock();
            });
            all.add("a turn", [each] {
                fair_mutex lock{*each, "F", {.waiter_patience = waiter_patience}};
                const std::scoped_lock held{lock};
            });
        }
        all.add("a reader", [&home] {
            shared_mutex lock{home, "R"};
            const std::shared_lock held{lock};
        });
        all.add("a writer", [&other] {
            shared_mutex lock{other, "R"};
            const std::scoped_lock held{lock};
        });
        all.add_fallible("a release", [&home] { counting_semaphore{home, "S"}.release(); });
        all.add_fallible("an acquisition", [&other] {
            (void)counting_semaphore{other, "S"}.try_acquire_for(100ms);
        });
        all.add_fallible("a rate", [&home] { (void)rate_limiter{home, "Q"}.try_acquire(); });
    }

    /// While `replace` has the primary replaced.
    template <typename Replace>
    void expect_all_go_on_through(Replace replace) {
        redis::options where = servers().client_options();
        where.command_timeout = 1s;
        holdfast::options made = how(where);
        made.lease_time = lease_time;
        made.unavailable_patience = 10s;
        made.poll_bound = 1s;
        client home{made}, other{made};
        rate_limiter{home, "Q"}.set_rate({.permits = 1000, .per = 1s});
        await_replicas();
        workers all;
        use_all(all, home, other);
        all.expect_all_go_on();
        replace();
        ASSERT_TRUE(told(event_kind::moved, 2));
        all.expect_all_go_on();
    }
};
HOLDFAST_ON_EACH_SERVER(ThroughFailover);

TEST_P(ThroughFailover, EverythingGoesOnWhenItIsOrdered) {
    expect_all_go_on_through([&] { servers().failover(); });
}

TEST_P(ThroughFailover, EverythingGoesOnWhenThePrimaryIsKilled) {
    expect_all_go_on_through([&] { servers().primary().stop(); });
}

TEST_P(ThroughFailover, EverythingGoesOnWhenThePrimaryHangs) {
    expect_all_go_on_through([&] { servers().primary().pause(); });
}

} // namespace
} // namespace holdfast
