// SPDX-License-Identifier: Apache-2.0
#include <holdfast/inspection.hpp>

namespace holdfast {

const char* to_string(key_kind kind) noexcept {
    switch (kind) {
    case key_kind::lock:
        return "lock";
    case key_kind::read_write_lock:
        return "read-write lock";
    case key_kind::token_lock:
        return "token lock";
    case key_kind::other:
        break;
    }
    return "other";
}

} // namespace holdfast
