// SPDX-License-Identifier: Apache-2.0
#include "net/look_up.hpp"

#include "net/failure.hpp"

#include <boost/asio/ip/address.hpp>

#include <memory>
#include <utility>

namespace holdfast::net {
namespace {

using asio::ip::tcp;

struct answer {
    alarm* wake; ///< null: the caller has stopped waiting
    bool come = false;
    error_code failed{};
    std::vector<tcp::endpoint> found{};
};

} // namespace

asio::awaitable<std::vector<tcp::endpoint>> look_up(asio::any_io_executor executor,
                                                    std::string host, std::uint16_t port,
                                                    alarm& wake, std::function<bool()> given_up) {
    error_code not_numeric;
    const auto numeric = asio::ip::make_address(host, not_numeric);
    // For an IP address, the resolver is not used, because it would start a thread.
    if (!not_numeric)
        co_return std::vector{tcp::endpoint{numeric, port}};

    const auto told = std::make_shared<answer>(answer{.wake = &wake});
    tcp::resolver resolver{executor};
    auto listen = [told](error_code failed, const tcp::resolver::results_type& found) {
        told->come = true;
        told->failed = failed;
        told->found.assign(found.begin(), found.end());
        if (told->wake)
            told->wake->ring();
    };
    resolver.async_resolve(host, std::to_string(port), tcp::resolver::numeric_service,
                           std::move(listen));
    while (!told->come && !given_up())
        co_await wake.wait_until(time_point::max());
    told->wake = nullptr;
    if (told->failed)
        throw failure{errc::unreachable,
                      "cannot find the address of " + host + ": " + told->failed.message()};
    co_return std::move(told->found);
}

} // namespace holdfast::net
