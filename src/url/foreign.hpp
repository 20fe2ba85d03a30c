// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "url/parts.hpp"

namespace holdfast::url {

/// Throws `errc::invalid_argument` for URLs of Sentinels and clusters in the form of other clients;
/// the text shows the form that holdfast accepts. Also throws for a fragment, because no URL of
/// holdfast has a fragment.
void refuse_what_others_write(const parts&);

} // namespace holdfast::url
