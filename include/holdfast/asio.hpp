// SPDX-License-Identifier: Apache-2.0
// Includes Asio. No other header chooses which Asio the library uses.
#pragma once

#include <holdfast/export.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/system/error_code.hpp>
#include <boost/version.hpp>

namespace holdfast {
namespace asio = boost::asio;
using boost::system::error_code; // Asio's completion tokens throw for this error type only.
using boost::system::error_condition;

namespace detail {
/// Link-time check of the Boost version. Asio's types are part of the interface, so a program must
/// use the Boost version that the library was built with. Otherwise the linker reports an undefined
/// `built_with_boost<...>::check()`.
template <int Version>
struct HOLDFAST_EXPORT built_with_boost {
    static void check() noexcept;
};
/// Makes each file that includes this header refer to the link-time check. Cost: one pointer.
[[gnu::used]] static constexpr void (*checks_boost)() noexcept =
    &built_with_boost<BOOST_VERSION>::check;
} // namespace detail
} // namespace holdfast
