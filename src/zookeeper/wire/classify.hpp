// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/failure.hpp"

#include <cstdint>
#include <string_view>

namespace holdfast::zookeeper {

/// What an error answer means, with what was asked in the story.
net::failure failure_of(std::int32_t error, std::string_view asked);

} // namespace holdfast::zookeeper
