// SPDX-License-Identifier: Apache-2.0
#include "bench/standstill/hold_standstill.hpp"

#include "bench/standstill/working_client.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <thread>

namespace holdfast::bench {
namespace {

using namespace std::chrono_literals;

/// Time limit until the client works again. A server may need long to come back, and a client
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

/// Stops the server for longer than the timeouts of a request and of a connection attempt.
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
