// SPDX-License-Identifier: Apache-2.0
#include "bench/standstill/standstill.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <thread>
#include <utility>

namespace holdfast::bench {
namespace {

using namespace std::chrono_literals;

} // namespace

ticker::ticker(boost::asio::io_context& io)
    : timer_{io} {
    boost::asio::post(io, [this] { wait(); });
}

void ticker::stop() {
    is_over_ = true;
    timer_.cancel();
}

void ticker::wait() {
    timer_.expires_after(1ms);
    timer_.async_wait([this](const boost::system::error_code&) {
        if (is_over_)
            return;
        be_called();
        wait();
    });
}

void ticker::be_called() {
    const nanoseconds late = stopwatch::now() - timer_.expiry();
    const double without_core = thread_seconds_without_core();
    const double kept = 1e9 * (without_core - std::exchange(without_core_, without_core));
    const nanoseconds::rep ours = late.count() - static_cast<nanoseconds::rep>(kept);
    nanoseconds::rep before = latest_;
    while (before < ours && !latest_.compare_exchange_weak(before, ours)) {
    }
}

namespace {

constexpr int workers_of_a_client = 8;

} // namespace

void watched_executor::stop() {
    boost::asio::post(loop_.io(), [this] { ticker_.stop(); });
    loop_.finish();
}

working_client::working_client(const std::string& url)
    : client_{executor_.io().get_executor(), options{.url = url, .executor_is_serial = true}} {
    for (int i = 0; i < workers_of_a_client; ++i)
        workers_.push_back(asio::co_spawn(
            executor_.io(), work(locks_.emplace_back(client_, "bench:" + std::to_string(i))),
            asio::use_future));
}

working_client::~working_client() {
    is_over_ = true;
    client_.close(); // ends calls that wait for a server that is down
    for (const auto& each : workers_)
        each.wait();
    executor_.stop();
}

asio::awaitable<void> working_client::work(mutex& lock) {
    asio::steady_timer rest{co_await asio::this_coro::executor};
    while (!is_over_) {
        error_code failed;
        auto token = asio::redirect_error(asio::use_awaitable, failed);
        lease held = co_await lock.async_lock(token);
        if (!failed)
            co_await held.async_unlock(token);
        if (!failed) {
            ++pairs_;
            continue;
        }
        rest.expires_after(5ms);
        co_await rest.async_wait(asio::use_awaitable);
    }
}

namespace {

/// Time within which the client must work again. A server may take long to start, and a client
/// pauses before it connects again.
constexpr auto works_again_within = 30s;

void let_work(troubled_server&) {
    std::this_thread::sleep_for(2s);
}

void cut_often(troubled_server& server) {
    for (int i = 0; i < 20; ++i) {
        std::this_thread::sleep_for(100ms);
        server.cut();
    }
}

/// Stops the server for longer than the timeouts of requests and of attempts to connect.
void be_silent(troubled_server& server) {
    server.freeze();
    std::this_thread::sleep_for(4s);
    server.thaw();
}

void be_dead(troubled_server& server) {
    server.kill();
    std::this_thread::sleep_for(1s);
    server.revive();
}

struct trouble {
    const char* suffix;
    void (*befalls)(troubled_server&);
    double ours = 0, yardstick = 0; ///< delay of the latest tick, in ms
};

using troubles = std::array<trouble, 4>;

double in_ms(nanoseconds length) {
    return std::chrono::duration<double, std::milli>{length}.count();
}

void wait_for_work(const working_client& ours) {
    const long long before = ours.pairs();
    const auto deadline = stopwatch::now() + works_again_within;
    while (ours.pairs() == before) {
        if (stopwatch::now() > deadline)
            throw std::runtime_error{"the client does not work again"};
        std::this_thread::sleep_for(1ms);
    }
}

void go_through(troubles& all, troubled_server& server) {
    watched_executor idle;
    working_client ours{server.url()};
    wait_for_work(ours);
    for (trouble& each : all) {
        (void)ours.latest();
        (void)idle.latest();
        each.befalls(server);
        wait_for_work(ours);
        each.ours = std::max(each.ours, in_ms(ours.latest()));
        each.yardstick = std::max(each.yardstick, in_ms(idle.latest()));
    }
}

} // namespace

std::vector<figure> hold_standstill(const standstill& which, int rounds,
                                    const std::function<void(int round)>& progress) {
    const auto server = which.where();
    troubles all{
        {{".work", let_work}, {".cut", cut_often}, {".silent", be_silent}, {".dead", be_dead}}};
    for (int i = 1; i <= rounds; ++i) {
        progress(i);
        go_through(all, *server);
    }
    std::vector<comparison> seen;
    for (const trouble& each : all)
        seen.push_back({each.suffix, "ms", better::lower, {each.ours}, {each.yardstick}});
    return figures(which.name, which.wanted, seen);
}

} // namespace holdfast::bench
