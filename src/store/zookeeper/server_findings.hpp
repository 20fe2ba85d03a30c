// SPDX-License-Identifier: Apache-2.0
// What the doctor says about an ensemble's servers. No I/O, no clock.
#pragma once

#include "zookeeper/session.hpp"

#include <holdfast/store.hpp>

#include <vector>

namespace holdfast::zookeeper {

std::vector<finding> judge_servers(const survey&);

} // namespace holdfast::zookeeper
