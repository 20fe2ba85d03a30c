// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/credentials.hpp>
#include <holdfast/redis/options.hpp>

namespace holdfast::redis {

/// Who the next connection says it is: what the options say, and the provider where they say
/// nothing. Throws `failure` (unreachable) if the provider throws.
credentials credentials_now(const options&);

} // namespace holdfast::redis
