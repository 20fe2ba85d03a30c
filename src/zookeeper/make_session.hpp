// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zookeeper/session.hpp"

#include <holdfast/store.hpp>
#include <holdfast/zookeeper/options.hpp>

#include <memory>

namespace holdfast::zookeeper {

/// Makes a session at the ensemble of the options. The session is opened with its first request or
/// use. The options must be those that checked() returned (check_options.hpp).
std::unique_ptr<session> make_session(options, store_context);

} // namespace holdfast::zookeeper
