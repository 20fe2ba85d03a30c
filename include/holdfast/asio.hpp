// SPDX-License-Identifier: Apache-2.0
// The only file that selects the Asio that the library is built on.
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
using boost::system::error_code; // Asio's tokens throw for this type, and only for this type.
using boost::system::error_condition;

namespace detail {
/// Asio's types are part of the interface, so a program must use the Boost that the library was
/// built with. If it does not, the linker reports an undefined `built_with_boost<...>::check()`.
template <int Version>
struct HOLDFAST_EXPORT built_with_boost {
    static void check() noexcept;
};
/// Refers to it in every file that uses the library. It costs each file one pointer.
[[gnu::used]] static constexpr void (*checks_boost)() noexcept =
    &built_with_boost<BOOST_VERSION>::check;
} // namespace detail
} // namespace holdfast
