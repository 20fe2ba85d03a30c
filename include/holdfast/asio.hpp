// SPDX-License-Identifier: Apache-2.0
// The one place that says which Asio the library is built on.
#pragma once

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/system/error_code.hpp>

namespace holdfast {
namespace asio = boost::asio;
using boost::system::error_code; // Asio's tokens throw for this type, and only for this type.
using boost::system::error_condition;
} // namespace holdfast
