// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/store.hpp>

#include <vector>

namespace holdfast::support {

/// Returns pointers to the holds, in the form that a store needs.
inline std::vector<const hold*> listed(const std::vector<hold>& holds) {
    std::vector<const hold*> list;
    for (const hold& each : holds)
        list.push_back(&each);
    return list;
}

} // namespace holdfast::support
