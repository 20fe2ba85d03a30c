// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "url/parts.hpp"

namespace holdfast::url {

/// Refuses what other clients write for Sentinels and clusters, with what is written here instead;
/// and a fragment, which no URL here has. Throws `errc::invalid_argument`.
void refuse_what_others_write(const parts&);

} // namespace holdfast::url
