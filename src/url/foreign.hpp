// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "url/parts.hpp"

namespace holdfast::url {

/// Throws `errc::invalid_argument` if the URL of Sentinels or a cluster has the form of another
/// client. The error text shows the form that holdfast accepts. Also throws for a fragment, because
/// no URL of holdfast has a fragment.
void refuse_what_others_write(const parts&);

} // namespace holdfast::url
