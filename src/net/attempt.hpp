// SPDX-License-Identifier: Apache-2.0
// How an attempt to connect ends when it does not end well, in words.
#pragma once

#include "net/byte_stream.hpp"

#include <functional>

namespace holdfast::net {

/// For the time limit of an attempt that has `patience`: cuts it, and says what it was busy with.
/// The connection must outlive it.
std::function<void()> give_up(byte_stream&, duration patience);

/// Within a handler: what ended the attempt, whatever was thrown, since the loop that keeps a
/// connection must go on. No request was sent, whatever the server said, so nothing is unknown.
failure trouble_of_attempt();

/// That failure, as whoever waits for the connection is told.
failure no_connection(const std::string& address, const failure& why);

} // namespace holdfast::net
