// SPDX-License-Identifier: Apache-2.0
// Functions that wait for an event in another thread or in a server. They return as soon as the
// event has happened. Their timeout is so long that only a failed test reaches it.
#pragma once

#include <chrono>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

namespace holdfast::support {

/// Timeout that no step of a successful test reaches, even under a sanitizer on a busy machine.
inline constexpr std::chrono::seconds far_too_long{30};

/// Calls `holds()` once a millisecond until it returns true. Returns false after the timeout. Use
/// it for events that send no notification.
template <typename Predicate>
[[nodiscard]] bool eventually(Predicate holds) {
    const auto end = std::chrono::steady_clock::now() + far_too_long;
    while (!holds()) {
        if (std::chrono::steady_clock::now() > end)
            return holds(); // a last call, because this process may have been paused
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
    return true;
}

/// Waits until the condition `holds()` is true. Throws `std::runtime_error` with the text `what`
/// after the timeout.
template <typename Predicate>
void until(const std::string& what, Predicate holds) {
    if (!eventually(std::move(holds)))
        throw std::runtime_error{"waited for far too long until " + what};
}

/// Returns the result of the future, or throws its exception. Throws `std::runtime_error` after the
/// timeout.
template <typename T>
T soon(std::future<T> coming, std::chrono::seconds most = far_too_long) {
    if (coming.wait_for(most) != std::future_status::ready)
        throw std::runtime_error{"nothing came for far too long"};
    return coming.get();
}

template <typename T>
[[nodiscard]] bool is_ready(const std::future<T>& coming) {
    return coming.wait_for(std::chrono::seconds{0}) == std::future_status::ready;
}

} // namespace holdfast::support
