// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/zookeeper/options.hpp>

namespace holdfast::zookeeper {

/// Returns the options as the store will use them. Throws `errc::invalid_argument`; the text names
/// the wrong field and says what is allowed.
options checked(options);

} // namespace holdfast::zookeeper
