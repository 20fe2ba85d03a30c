// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/credentials.hpp>

namespace holdfast::net {

/// User name and password of the next connection: those of `fixed`, and the provider's where that
/// has none. The provider may be empty. Throws `failure` (unreachable) if it throws.
credentials credentials_now(const credentials& fixed, const credential_provider&);

} // namespace holdfast::net
