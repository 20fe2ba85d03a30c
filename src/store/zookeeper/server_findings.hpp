// SPDX-License-Identifier: Apache-2.0
// What is to be said of an ensemble's servers, as they were seen. No I/O, no clock.
#pragma once

#include "zookeeper/session.hpp"

#include <holdfast/store.hpp>

#include <vector>

namespace holdfast::zookeeper {

std::vector<finding> judge_servers(const survey&);

} // namespace holdfast::zookeeper
