// SPDX-License-Identifier: Apache-2.0
#include <holdfast/diagnosis.hpp>

namespace holdfast {

const char* to_string(severity how_bad) noexcept {
    switch (how_bad) {
    case severity::fine:
        return "fine";
    case severity::note:
        return "note";
    case severity::warning:
        return "warning";
    case severity::danger:
        return "danger";
    }
    return "";
}

} // namespace holdfast
