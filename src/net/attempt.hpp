// SPDX-License-Identifier: Apache-2.0
// Error texts of a failed attempt to connect.
#pragma once

#include "net/byte_stream.hpp"

#include <functional>

namespace holdfast::net {

/// Returns the handler for the timeout of an attempt to connect. The handler cuts the connection.
/// Its error text says what the connection was doing, and contains the timeout `patience`. The
/// connection must outlive the handler.
std::function<void()> give_up(byte_stream&, duration patience);

/// Returns the error that ended an attempt to connect; call it in a catch block. It accepts every
/// exception, because the reconnect loop must continue. An attempt sends no lock request, so
/// `outcome_unknown` becomes `unreachable`.
failure trouble_of_attempt();

/// Returns the failure for callers that wait for the connection. Its text names the address.
failure no_connection(const std::string& address, const failure& why);

} // namespace holdfast::net
