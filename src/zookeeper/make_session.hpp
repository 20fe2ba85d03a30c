// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zookeeper/session.hpp"

#include <holdfast/store.hpp>
#include <holdfast/zookeeper/options.hpp>

#include <memory>

namespace holdfast::zookeeper {

/// A session at that ensemble; it is opened with the first request, or use. The options are those
/// that checked() returned (check_options.hpp).
std::unique_ptr<session> make_session(options, store_context);

} // namespace holdfast::zookeeper
