// SPDX-License-Identifier: Apache-2.0
// The smallest program that uses the metrics component. It counts a call that fails.
#include <holdfast/holdfast.hpp>
#include <holdfast/metrics/collector.hpp>

#include <iostream>
#include <memory>

#include <prometheus/text_serializer.h>

int main() {
    auto locks = std::make_shared<holdfast::metrics::collector>();
    holdfast::client client{
        {.url = "redis://127.0.0.1:1?unavailable_timeout=0s", .observer = locks}};
    holdfast::mutex stock{client, "stock"};
    holdfast::error_code failed;
    try {
        stock.lock();
    } catch (const boost::system::system_error& failure) {
        failed = failure.code();
    }
    client.close();
    const std::string text = prometheus::TextSerializer{}.Serialize(locks->Collect());
    std::cout << text;
    const auto counted =
        text.find("holdfast_acquire_failures_total{cause=\"failed\",name=\"stock\"} 1");
    return failed == holdfast::errc::unreachable && counted != text.npos ? 0 : 1;
}
