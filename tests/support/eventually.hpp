// SPDX-License-Identifier: Apache-2.0
// Waiting for what another thread or a server is about to do. Every such wait has one limit, which
// is never reached in a good run, and ends as soon as it can.
#pragma once

#include <chrono>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

namespace holdfast::support {

/// Longer than anything here takes, under a sanitizer and on a busy machine too.
inline constexpr std::chrono::seconds far_too_long{30};

/// Whether `holds()` becomes true. For what nobody tells us of; a server is asked about once a
/// millisecond.
template <typename Predicate>
[[nodiscard]] bool eventually(Predicate holds) {
    const auto end = std::chrono::steady_clock::now() + far_too_long;
    while (!holds()) {
        if (std::chrono::steady_clock::now() > end)
            return false;
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
    return true;
}

/// For what a test cannot go on without: throws `std::runtime_error`, which names it.
template <typename Predicate>
void until(const std::string& what, Predicate holds) {
    if (!eventually(std::move(holds)))
        throw std::runtime_error{"waited for far too long until " + what};
}

/// What the future brings; throws what it throws, and `std::runtime_error` if nothing comes.
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
