// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/error.hpp>
#include <holdfast/time.hpp>

#include <boost/asio/generic/stream_protocol.hpp>

namespace holdfast::net {

/// TCP and unix sockets alike.
using stream_socket = asio::generic::stream_protocol::socket;
using stream_endpoint = asio::generic::stream_protocol::endpoint;

/// Opens a socket for that endpoint, not connected yet, with all that Asio leaves to chance: closed
/// on exec, non-blocking, no delay of small writes, and the kernel watching over a peer that is
/// silent for longer than an answer may take (`patience`).
error_code open_socket(stream_socket&, const stream_endpoint&, duration patience);

} // namespace holdfast::net
