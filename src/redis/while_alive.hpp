// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

namespace holdfast::redis {

/// Calls that member of it as long as it lives, and does not keep it alive.
template <typename T, typename... Args>
std::function<void(Args...)> while_alive(const std::shared_ptr<T>& it, void (T::*what)(Args...)) {
    return [weak = std::weak_ptr{it}, what](Args... args) {
        if (const auto here = weak.lock())
            (*here.*what)(args...);
    };
}

} // namespace holdfast::redis
