// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

namespace holdfast::redis {

/// Returns a function that calls the member function `what` of the object if the object still
/// exists. The returned function does not keep the object alive.
template <typename T, typename... Args>
std::function<void(Args...)> while_alive(const std::shared_ptr<T>& it, void (T::*what)(Args...)) {
    return [weak = std::weak_ptr{it}, what](Args... args) {
        if (const auto here = weak.lock())
            (*here.*what)(args...);
    };
}

} // namespace holdfast::redis
