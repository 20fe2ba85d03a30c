// SPDX-License-Identifier: Apache-2.0
// Metrics of clients of a memory server, in simulated time.
#include "support/clocks.hpp"
#include "support/recorder.hpp"

#include <holdfast/client.hpp>
#include <holdfast/counting_semaphore.hpp>
#include <holdfast/memory/server.hpp>
#include <holdfast/metrics/collector.hpp>
#include <holdfast/multi_mutex.hpp>
#include <holdfast/mutex.hpp>
#include <holdfast/shared_mutex.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <prometheus/exposer.h>
#include <prometheus/text_serializer.h>

namespace holdfast::metrics {
namespace {

using namespace std::chrono_literals;
using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using support::said;
using label_map = std::map<std::string, std::string>;

/// Returns the metric with exactly these labels. Throws if there is none.
ClientMetric metric_of(const collector& from, const std::string& name, const label_map& labels) {
    for (const MetricFamily& family : from.Collect()) {
        if (family.name != name)
            continue;
        for (const ClientMetric& each : family.metric) {
            label_map its;
            for (const ClientMetric::Label& label : each.label)
                its.emplace(label.name, label.value);
            if (its == labels)
                return each;
        }
    }
    throw std::out_of_range{"there is no " + name + " with these labels"};
}

/// Returns the value of a counter or gauge: one of its two values is always zero.
double value_of(const collector& from, const std::string& name, const label_map& labels = {}) {
    const ClientMetric found = metric_of(from, name, labels);
    return found.counter.value + found.gauge.value;
}

std::set<std::string> values_of_label(const collector& from, const std::string& label) {
    std::set<std::string> all;
    for (const MetricFamily& family : from.Collect())
        for (const ClientMetric& each : family.metric)
            for (const ClientMetric::Label& its : each.label)
                if (its.name == label)
                    all.insert(its.value);
    return all;
}

event about(event_kind kind, std::string_view name) {
    return {.kind = kind, .name = name.data(), .name_size = name.size()};
}

class Metrics : public testing::Test {
protected:
    Metrics() { alice.emplace(io.get_executor(), clock, with({.label = "alice"})); }
    ~Metrics() override {
        alice.reset();
        clock.run_for(1h);
    }

    holdfast::options with(holdfast::options how) {
        how.store = server.connect([this](const memory::request&) { return faults; }, 1s);
        how.observer = metrics;
        return how;
    }
    options settings() {
        options how;
        how.now = [this] { return clock.now(); };
        return how;
    }

    lease taken(basic_mutex& lock) {
        said<lease> held;
        lock.async_lock(held.handler());
        settle();
        return held.take();
    }
    void release(lease held) {
        held.async_unlock(said{}.handler());
        settle();
    }
    void settle() { clock.run_for(0ms); }

    double value(const std::string& name, const label_map& labels) {
        return value_of(*metrics, name, labels);
    }
    double of_orders(const std::string& name) { return value(name, {{"name", "orders"}}); }
    ClientMetric::Histogram times(const std::string& name) {
        return metric_of(*metrics, name, {{"name", "orders"}}).histogram;
    }

    asio::io_context io;
    sim::sim_clock clock{io};
    memory::server server{clock};
    memory::fate faults{};
    std::shared_ptr<collector> metrics = std::make_shared<collector>(settings());
    std::optional<client> alice;
};

TEST_F(Metrics, AHeldLockIsCountedUntilItsRelease) {
    mutex lock{*alice, "orders:17"};
    lease held = taken(lock);
    EXPECT_EQ(of_orders("holdfast_held"), 1);
    EXPECT_EQ(of_orders("holdfast_acquired_total"), 1);
    EXPECT_EQ(times("holdfast_wait_seconds").sample_count, 1U);
    EXPECT_EQ(times("holdfast_hold_seconds").sample_count, 0U);

    clock.run_for(7s);
    release(std::move(held));
    EXPECT_EQ(of_orders("holdfast_held"), 0);
    EXPECT_EQ(times("holdfast_hold_seconds").sample_count, 1U);
    EXPECT_DOUBLE_EQ(times("holdfast_hold_seconds").sample_sum, 7);
}

TEST_F(Metrics, WaitingCallsAndTheOldestOfThemAreShown) {
    server.occupy({"orders:17"}, 1h);
    server.occupy({"orders:18"}, 1h);
    mutex one{*alice, "orders:17"}, another{*alice, "orders:18"};
    said<lease> first, second, third;
    one.async_lock(first.handler());
    clock.run_for(2s);
    one.async_lock(second.handler()); // waits behind the first call of this client
    another.async_lock(third.handler());
    clock.run_for(1s);
    EXPECT_EQ(of_orders("holdfast_waiting"), 3);
    EXPECT_DOUBLE_EQ(of_orders("holdfast_oldest_wait_seconds"), 3);
    EXPECT_EQ(of_orders("holdfast_held"), 0);

    server.vacate({"orders:17"});
    settle();
    ASSERT_TRUE(first.well());
    EXPECT_EQ(of_orders("holdfast_waiting"), 2);
    EXPECT_DOUBLE_EQ(of_orders("holdfast_oldest_wait_seconds"), 1);
    EXPECT_DOUBLE_EQ(times("holdfast_wait_seconds").sample_sum, 3);

    said<> closed;
    alice->async_close(closed.handler());
    clock.run_for(1h);
    EXPECT_EQ(of_orders("holdfast_waiting"), 0);
    EXPECT_EQ(of_orders("holdfast_oldest_wait_seconds"), 0);
    EXPECT_EQ(value("holdfast_acquire_failures_total", {{"name", "orders"}, {"cause", "closed"}}),
              2);
    EXPECT_EQ(value("holdfast_lost_total", {{"name", "orders"}, {"cause", "closed"}}), 1);
    EXPECT_EQ(of_orders("holdfast_held"), 0);
}

TEST_F(Metrics, ACallWhoseTimeoutExpiresIsBusy) {
    server.occupy({"orders:17"}, 1h);
    mutex lock{*alice, "orders:17"};
    said<std::optional<lease>> tried, at_once;
    lock.async_try_lock_for(2s, tried.handler());
    clock.run_for(3s);
    lock.async_try_lock(at_once.handler());
    settle();
    ASSERT_TRUE(tried.well());
    EXPECT_EQ(of_orders("holdfast_busy_total"), 2);
    EXPECT_EQ(of_orders("holdfast_waiting"), 0);
    EXPECT_DOUBLE_EQ(times("holdfast_wait_seconds").sample_sum, 2);
}

TEST_F(Metrics, CancelledAndFailedCallsAreCountedByCause) {
    server.occupy({"orders:17"}, 1h);
    mutex lock{*alice, "orders:17"};
    asio::cancellation_signal stop;
    said<lease> cancelled, failed;
    lock.async_lock(asio::bind_cancellation_slot(stop.slot(), cancelled.handler()));
    clock.run_for(1s);
    stop.emit(asio::cancellation_type::total);
    settle();
    faults.refused = true;
    lock.async_lock(failed.handler());
    clock.run_for(1min);
    ASSERT_TRUE(failed.done());
    for (const char* const cause : {"cancelled", "failed"})
        EXPECT_EQ(value("holdfast_acquire_failures_total", {{"name", "orders"}, {"cause", cause}}),
                  1)
            << cause;
    EXPECT_EQ(of_orders("holdfast_waiting"), 0);
}

TEST_F(Metrics, LossesAreCountedByCause) {
    mutex lock{*alice, "orders:17"}, next{*alice, "orders:18"};
    const lease evicted = taken(lock);
    server.evict({"orders:17"});
    clock.run_for(15s);
    EXPECT_EQ(value("holdfast_lost_total", {{"name", "orders"}, {"cause", "refused"}}), 1);
    EXPECT_EQ(value("holdfast_lost_total", {{"name", "orders"}, {"cause", "term_ended"}}), 0);

    const lease forgotten = taken(next);
    faults.refused = true;
    clock.run_for(1min);
    EXPECT_EQ(value("holdfast_lost_total", {{"name", "orders"}, {"cause", "term_ended"}}), 1);
    EXPECT_GE(of_orders("holdfast_renewal_failures_total"), 2);
    EXPECT_EQ(of_orders("holdfast_held"), 0);
    EXPECT_EQ(times("holdfast_hold_seconds").sample_count, 2U);
    faults.refused = false;
}

TEST_F(Metrics, ReadersOfOneClientShareAHold) {
    shared_mutex prices{*alice, "orders:17"};
    lease first = taken(prices.shared());
    lease second = taken(prices.shared());
    EXPECT_EQ(of_orders("holdfast_acquired_total"), 2);
    EXPECT_EQ(of_orders("holdfast_held"), 1);
    release(std::move(first));
    EXPECT_EQ(of_orders("holdfast_held"), 1);
    release(std::move(second));
    EXPECT_EQ(of_orders("holdfast_held"), 0);
}

TEST_F(Metrics, ACallThatWaitsAndThenSharesAHoldEndsItsWait) {
    shared_mutex prices{*alice, "orders:17"};
    basic_mutex& exclusive = prices;
    lease written = taken(exclusive);
    said<lease> first, second;
    prices.async_lock_shared(first.handler());
    prices.async_lock_shared(second.handler());
    clock.run_for(1s);
    EXPECT_EQ(of_orders("holdfast_waiting"), 2);
    release(std::move(written));
    clock.run_for(1s);
    ASSERT_TRUE(first.well() && second.well());
    EXPECT_EQ(of_orders("holdfast_waiting"), 0);
    EXPECT_EQ(of_orders("holdfast_acquired_total"), 3);
    EXPECT_EQ(of_orders("holdfast_held"), 1);
}

TEST_F(Metrics, ALockThatIsHandedToTheNextCallIsHeldOnce) {
    mutex lock{*alice, "orders:17"};
    lease mine = taken(lock);
    said<lease> next;
    lock.async_lock(next.handler());
    release(std::move(mine));
    ASSERT_TRUE(next.well());
    EXPECT_EQ(of_orders("holdfast_held"), 1);
    EXPECT_EQ(of_orders("holdfast_waiting"), 0);
    EXPECT_EQ(of_orders("holdfast_acquired_total"), 2);
}

TEST_F(Metrics, CountersAreAcquiredButNotHeld) {
    counting_semaphore slots{*alice, "orders:slots"};
    said<bool> set, first, second;
    slots.async_try_set_permits(1, set.handler());
    settle();
    slots.async_try_acquire(1, first.handler());
    settle();
    slots.async_try_acquire_for(5s, 1, second.handler());
    clock.run_for(1s);
    EXPECT_EQ(of_orders("holdfast_acquired_total"), 1);
    EXPECT_EQ(of_orders("holdfast_waiting"), 1);
    EXPECT_EQ(of_orders("holdfast_held"), 0);
    clock.run_for(1min);
    EXPECT_EQ(of_orders("holdfast_busy_total"), 1);
    EXPECT_EQ(of_orders("holdfast_waiting"), 0);
}

TEST_F(Metrics, SeveralLocksAsOneCountWithTheirMembers) {
    server.occupy({"b"}, 5s);
    mutex one{*alice, "a"}, another{*alice, "b"};
    multi_mutex both{one, another};
    said<lease> held;
    both.async_lock(held.handler());
    clock.run_for(2s);
    EXPECT_EQ(value("holdfast_waiting", {{"name", "a + b"}}), 1);
    clock.run_for(1min);
    ASSERT_TRUE(held.well());
    for (const char* const name : {"a", "b", "a + b"}) {
        EXPECT_EQ(value("holdfast_held", {{"name", name}}), 1) << name;
        EXPECT_EQ(value("holdfast_waiting", {{"name", name}}), 0) << name;
    }
    release(held.take());
    for (const char* const name : {"a", "b", "a + b"})
        EXPECT_EQ(value("holdfast_held", {{"name", name}}), 0) << name;
}

TEST_F(Metrics, TwoClientsMayShareACollector) {
    client bob{io.get_executor(), clock, with({.label = "bob"})};
    mutex mine{*alice, "orders:17"}, his{bob, "orders:17"};
    lease held = taken(mine);
    said<lease> next;
    his.async_lock(next.handler());
    clock.run_for(1s);
    EXPECT_EQ(of_orders("holdfast_held"), 1);
    EXPECT_EQ(of_orders("holdfast_waiting"), 1);
    release(std::move(held));
    clock.run_for(1min);
    ASSERT_TRUE(next.well());
    EXPECT_EQ(of_orders("holdfast_held"), 1);
    EXPECT_EQ(of_orders("holdfast_waiting"), 0);
    release(next.take());
    said<> closed;
    bob.async_close(closed.handler());
    clock.run_for(1min);
}

// Events that the memory server does not cause.

TEST(Collector, ConnectionsAreCountedWithoutALabel) {
    collector metrics;
    for (const auto& [kind, name] :
         std::map<event_kind, std::string>{{event_kind::disconnected, "holdfast_disconnections"},
                                           {event_kind::reconnected, "holdfast_reconnections"},
                                           {event_kind::moved, "holdfast_moves"},
                                           {event_kind::impaired, "holdfast_impairments"}}) {
        EXPECT_EQ(value_of(metrics, name + "_total"), 0);
        metrics.notify(about(kind, "10.0.0.1:6379"));
        EXPECT_EQ(value_of(metrics, name + "_total"), 1) << name;
    }
    EXPECT_EQ(values_of_label(metrics, "name").size(), 0U);
}

TEST(Collector, FailedReleasesAbandonedLocksAndMisuseAreCounted) {
    collector metrics;
    for (const auto& [kind, name] : std::map<event_kind, std::string>{
             {event_kind::release_failed, "holdfast_release_failures_total"},
             {event_kind::abandoned, "holdfast_abandoned_total"},
             {event_kind::misuse, "holdfast_misuses_total"}}) {
        metrics.notify(about(kind, "a"));
        EXPECT_EQ(value_of(metrics, name, {{"name", "a"}}), 1) << name;
    }
}

TEST(Collector, TenThousandNamesMakeAtMostTheAllowedNumberOfLabels) {
    options how;
    how.labels_max = 20;
    collector metrics{how};
    for (int number = 0; number < 10'000; ++number) {
        const std::string name = "job-" + std::to_string(number) + ":part";
        metrics.notify(about(event_kind::acquired, name));
    }
    const std::set<std::string> labels = values_of_label(metrics, "name");
    EXPECT_EQ(labels.size(), 21U);
    EXPECT_TRUE(labels.contains("job-0") && labels.contains("job-19") && labels.contains("other"));
    EXPECT_EQ(value_of(metrics, "holdfast_acquired_total", {{"name", "job-7"}}), 1);
    EXPECT_EQ(value_of(metrics, "holdfast_acquired_total", {{"name", "other"}}), 9'980);
}

TEST(Collector, WithoutAllowedLabelsEveryLockIsOther) {
    options how;
    how.labels_max = 0;
    collector metrics{how};
    metrics.notify(about(event_kind::acquired, "a"));
    EXPECT_EQ(values_of_label(metrics, "name"), std::set<std::string>{"other"});
}

TEST(Collector, TheUsersFunctionChoosesTheLabel) {
    options how;
    how.label = [](std::string_view name) {
        return name == "bad" ? throw std::runtime_error{"the user's"} : std::string{"all"};
    };
    collector metrics{how};
    for (const char* const name : {"a:b", "c", "bad"})
        metrics.notify(about(event_kind::acquired, name));
    EXPECT_EQ(value_of(metrics, "holdfast_acquired_total", {{"name", "all"}}), 2);
    EXPECT_EQ(value_of(metrics, "holdfast_acquired_total", {{"name", "other"}}), 1);
}

TEST(Collector, HostileNamesCannotForgeALine) {
    collector metrics;
    metrics.notify(about(event_kind::acquired, "a\"} 99\nholdfast_held{name=\"b\xff\\"));
    std::ostringstream text;
    prometheus::TextSerializer{}.Serialize(text, metrics.Collect());
    EXPECT_THAT(text.str(),
                testing::HasSubstr("holdfast_acquired_total{name=\"a\\\"} "
                                   "99\uFFFDholdfast_held{name=\\\"b\uFFFD\\\\\"} 1\n"));
}

TEST(Collector, BucketsThatDoNotIncreaseAreRefused) {
    options how;
    how.hold_buckets = {1, 1};
    EXPECT_THROW((collector{how}), std::invalid_argument);
}

TEST(Collector, ThreadsMayReportAndReadAtTheSameTime) {
    collector metrics;
    constexpr int threads_count = 4, calls = 500;
    std::vector<std::thread> threads;
    for (int which = 0; which < threads_count; ++which)
        threads.emplace_back([&metrics, which] {
            for (int call = 0; call < calls; ++call) {
                event e = about(event_kind::waiting, "a");
                e.call_number = static_cast<std::uint64_t>(which * calls + call + 1);
                metrics.notify(e);
                e.kind = event_kind::acquired;
                metrics.notify(e);
            }
        });
    for (int read = 0; read < 20; ++read)
        EXPECT_FALSE(metrics.Collect().empty());
    for (std::thread& each : threads)
        each.join();
    EXPECT_EQ(value_of(metrics, "holdfast_acquired_total", {{"name", "a"}}), threads_count * calls);
    EXPECT_EQ(value_of(metrics, "holdfast_waiting", {{"name", "a"}}), 0);
}

// Values that Prometheus gets.

std::string scraped(int port) {
    asio::ip::tcp::iostream connection{"127.0.0.1", std::to_string(port)};
    connection << "GET /metrics HTTP/1.0\r\nHost: localhost\r\n\r\n" << std::flush;
    std::ostringstream all;
    all << connection.rdbuf();
    return all.str();
}

TEST_F(Metrics, AreScraped) {
    prometheus::Exposer exposer{"127.0.0.1:0", 1};
    exposer.RegisterCollectable(metrics);
    mutex lock{*alice, "orders:17"};
    const lease held = taken(lock);
    const std::string page = scraped(exposer.GetListeningPorts().at(0));
    EXPECT_THAT(page, testing::StartsWith("HTTP/1.1 200 OK"));
    for (const char* const line :
         {"\n# TYPE holdfast_wait_seconds histogram\n", "\n# TYPE holdfast_held gauge\n",
          "\nholdfast_held{name=\"orders\"} 1\n", "\nholdfast_acquired_total{name=\"orders\"} 1\n",
          "\nholdfast_lost_total{cause=\"term_ended\",name=\"orders\"} 0\n",
          "\nholdfast_wait_seconds_bucket{name=\"orders\",le=\"0.001\"} 1\n",
          "\nholdfast_reconnections_total 0\n"})
        EXPECT_THAT(page, testing::HasSubstr(line));
}

} // namespace
} // namespace holdfast::metrics
