// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/asio.hpp>

#include <thread>

namespace holdfast::runtime {

/// Starts a thread of the library. The thread is named "holdfast" and has every signal blocked,
/// because the program's own threads handle the signals.
std::thread start_thread(asio::any_completion_handler<void()> work);

} // namespace holdfast::runtime
