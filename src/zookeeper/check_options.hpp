// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/zookeeper/options.hpp>

namespace holdfast::zookeeper {

/// The options as they are used. Throws `errc::invalid_argument`, whose text names the wrong field
/// and says what is allowed.
options checked(options);

} // namespace holdfast::zookeeper
