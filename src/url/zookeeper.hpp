// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/schemes.hpp>
#include <holdfast/zookeeper/options.hpp>

namespace holdfast::url {

/// Reads all options of a ZooKeeper ensemble from a URL. Throws `errc::invalid_argument`.
zookeeper::options read_ensemble(store_url&);

} // namespace holdfast::url
