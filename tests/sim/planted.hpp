// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/memory/server.hpp>

namespace holdfast::sim {

/// The fault that is to be found, if it is one of the server's own; and how long JVMs wait there.
void plant_faults(memory::server&, duration jvms_wait);

} // namespace holdfast::sim
