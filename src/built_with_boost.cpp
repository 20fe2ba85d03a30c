// SPDX-License-Identifier: Apache-2.0
#include <holdfast/asio.hpp>

namespace holdfast::detail {

template <int Version>
void built_with_boost<Version>::check() noexcept {}

template struct built_with_boost<BOOST_VERSION>;

} // namespace holdfast::detail
