// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/credentials.hpp>

namespace holdfast::net {

/// Returns the user name and password for the next connection. Empty fields of `fixed` are filled
/// by the provider, which may be empty. Throws `failure` (unreachable) if the provider throws.
credentials credentials_now(const credentials& fixed, const credential_provider&);

} // namespace holdfast::net
