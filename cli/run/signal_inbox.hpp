// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/asio.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <csignal>
#include <optional>

namespace cli {

namespace asio = holdfast::asio;
class inheritance;

/// Receives the signals that are sent to this process, including SIGCHLD. The constructor blocks
/// the signals, and they are read from a descriptor. So no signal is lost, and no signal interrupts
/// a call. Construct it before any thread starts, so that all threads have the signals blocked.
class signal_inbox {
public:
    /// Blocks the signals. Signals that were ignored at the start of the program stay ignored,
    /// because nohup relies on it.
    signal_inbox(asio::io_context&, const inheritance&);
    signal_inbox(const signal_inbox&) = delete;

    /// Returns when a signal can be read. Does not read the signal, so a cancelled call does no
    /// harm.
    asio::awaitable<void> arrival();
    [[nodiscard]] std::optional<int> take();

    /// Unblocks the signals, so that the next Ctrl-C ends the program.
    void let_through();

private:
    const inheritance& inherited_;
    asio::posix::stream_descriptor descriptor_;
};

} // namespace cli
