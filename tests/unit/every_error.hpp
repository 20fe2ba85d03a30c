// SPDX-License-Identifier: Apache-2.0
// How many errors there are, for tests that go through all of them.
#pragma once

#include <holdfast/error.hpp>

namespace holdfast {

inline constexpr int errcs = static_cast<int>(errc::forked);
inline constexpr int store_errcs = static_cast<int>(store_errc::worn_out);

} // namespace holdfast
