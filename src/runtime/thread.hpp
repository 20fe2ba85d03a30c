// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/asio.hpp>

#include <thread>

namespace holdfast::runtime {

/// The one way a thread of ours begins: under our name, and with every signal blocked, for signals
/// are for the program's own threads.
std::thread start_thread(asio::any_completion_handler<void()> work);

} // namespace holdfast::runtime
