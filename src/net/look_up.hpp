// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/time.hpp>

#include <boost/asio/ip/tcp.hpp>

#include <functional>
#include <string>
#include <vector>

namespace holdfast::net {

/// Returns the addresses of a host. The system's resolver can hang for minutes and cannot be
/// stopped. Therefore the function stops waiting as soon as `given_up` returns true, and ignores
/// the resolver's later result. It calls `given_up` whenever `wake` rings. Throws `failure`
/// (unreachable).
asio::awaitable<std::vector<asio::ip::tcp::endpoint>> look_up(asio::any_io_executor,
                                                              std::string host, std::uint16_t port,
                                                              alarm& wake,
                                                              std::function<bool()> given_up);

} // namespace holdfast::net
