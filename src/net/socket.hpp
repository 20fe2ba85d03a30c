// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/error.hpp>
#include <holdfast/time.hpp>

#include <boost/asio/generic/stream_protocol.hpp>

namespace holdfast::net {

/// TCP socket or unix socket.
using stream_socket = asio::generic::stream_protocol::socket;
using stream_endpoint = asio::generic::stream_protocol::endpoint;

/// Opens a socket for the endpoint; does not connect it. Sets the options that Asio does not set:
/// close-on-exec, non-blocking, no delay of small writes. Also makes the kernel detect a dead peer;
/// `patience` is the timeout of one reply.
error_code open_socket(stream_socket&, const stream_endpoint&, duration patience);

} // namespace holdfast::net
