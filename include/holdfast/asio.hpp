// SPDX-License-Identifier: Apache-2.0
// Includes Asio. Only this header decides which Asio the library uses (the one in Boost).
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
/// Link-time check of the Boost version. Asio's types are part of the library's interface, so a
/// program must be compiled with the Boost version that the library was built with. If the versions
/// differ, the linker reports an undefined `built_with_boost<...>::check()`.
template <int Version>
struct HOLDFAST_EXPORT built_with_boost {
    static void check() noexcept;
};
/// Makes each file that includes this header refer to the link-time check. The check costs one
/// pointer in the program.
[[gnu::used]] static constexpr void (*checks_boost)() noexcept =
    &built_with_boost<BOOST_VERSION>::check;
} // namespace detail
} // namespace holdfast
