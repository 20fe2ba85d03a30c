// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/schemes.hpp>
#include <holdfast/zookeeper/options.hpp>

namespace holdfast::url {

/// All that a URL says of an ensemble. Throws `errc::invalid_argument`.
zookeeper::options read_ensemble(store_url&);

} // namespace holdfast::url
