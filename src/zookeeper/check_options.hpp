// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/zookeeper/options.hpp>

namespace holdfast::zookeeper {

/// Checks the options and returns them in the form that the store uses. Throws
/// `errc::invalid_argument` if an option is wrong. The text names the field and says which values
/// are allowed.
options checked(options);

} // namespace holdfast::zookeeper
