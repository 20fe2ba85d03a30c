// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace holdfast::allocations {

/// How often the calling thread has asked `new` for memory since this was made. What libraries take
/// in their own ways (Asio its coroutine frames, hiredis its buffer) is not counted.
class counted {
public:
    counted();
    counted(const counted&) = delete;
    std::size_t so_far() const;

private:
    const std::size_t before_;
};

} // namespace holdfast::allocations
