// SPDX-License-Identifier: Apache-2.0
#include "mysql/availability.hpp"

namespace holdfast::mysql {

std::string objection_to_library() {
    return {};
}

} // namespace holdfast::mysql
