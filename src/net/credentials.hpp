// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/credentials.hpp>

namespace holdfast::net {

/// Returns the user name and password for the next connection. The provider fills empty fields of
/// `fixed`; the provider may be empty. Throws `failure` (unreachable) if the provider throws.
credentials credentials_now(const credentials& fixed, const credential_provider&);

} // namespace holdfast::net
