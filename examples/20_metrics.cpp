// SPDX-License-Identifier: Apache-2.0
// Metrics of locks for Prometheus, at http://127.0.0.1:PORT/metrics. Set HOLDFAST_URL to your
// server, and HOLDFAST_EXAMPLE_PORT to a port, for example 9464. The program then works for ten
// minutes, so that you can look at the metrics. Without a port it takes a free port, and ends soon.
#include <holdfast/holdfast.hpp>
#include <holdfast/metrics/collector.hpp>

#include <boost/asio/ip/tcp.hpp>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include <prometheus/exposer.h>

using namespace std::chrono_literals;

int main() {
    const char* const url = std::getenv("HOLDFAST_URL");
    const char* const wanted_port = std::getenv("HOLDFAST_EXAMPLE_PORT");

    // One collector for all clients of the process. The label `name` of a lock is the part of its
    // name before the first colon, so `orders:17` and `orders:18` are counted together.
    auto locks = std::make_shared<holdfast::metrics::collector>();
    prometheus::Exposer exposer{std::string{"127.0.0.1:"} + (wanted_port ? wanted_port : "0")};
    exposer.RegisterCollectable(locks);
    const std::string port = std::to_string(exposer.GetListeningPorts().at(0));
    std::cout << "The metrics are at http://127.0.0.1:" << port << "/metrics\n";

    holdfast::client client{{.url = url ? url : "memory:example", .observer = locks}};
    const auto end = std::chrono::steady_clock::now() + (wanted_port ? 10min : 0min);
    for (int order = 1; order <= 2 || std::chrono::steady_clock::now() < end; ++order) {
        holdfast::mutex lock{client, "orders:" + std::to_string(order)};
        const std::scoped_lock held{lock};
        std::this_thread::sleep_for(1ms); // the work
    }
    client.close(); // all events have been counted after that

    // What Prometheus does every 15 seconds.
    boost::asio::ip::tcp::iostream scrape{"127.0.0.1", port};
    scrape << "GET /metrics HTTP/1.0\r\n\r\n" << std::flush;
    bool is_counted = false;
    for (std::string line; std::getline(scrape, line);) {
        is_counted = is_counted || line.starts_with("holdfast_acquired_total{name=\"orders\"}");
        if (line.starts_with("holdfast_acquired") || line.starts_with("holdfast_hold_seconds_"))
            std::cout << line << '\n';
    }
    return is_counted ? 0 : 1;
}
