// SPDX-License-Identifier: Apache-2.0
// The check of the options, and the function that makes a session from them.
#pragma once

#include "zookeeper/session.hpp"

#include <holdfast/store.hpp>
#include <holdfast/zookeeper/options.hpp>

#include <memory>

namespace holdfast::zookeeper {

/// Checks the options and returns them in the form that the store uses. Throws
/// `errc::invalid_argument` if an option is wrong. The text names the field and says which values
/// are allowed.
options checked(options);

/// Makes a session at the ensemble that the options name. The first request, or the first call of
/// `in_use`, opens the session. The options must be the result of checked().
std::unique_ptr<session> make_session(options, store_context);

} // namespace holdfast::zookeeper
