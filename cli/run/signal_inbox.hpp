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

/// Reader of the signals that are sent to this process, and of SIGCHLD. The constructor blocks the
/// signals, and they are read from a descriptor, so none is lost and none interrupts a call.
/// Construct it before any thread is started, so that all threads have the signals blocked.
class signal_inbox {
public:
    /// Signals that were ignored when the program started stay ignored, because nohup relies on
    /// this.
    signal_inbox(asio::io_context&, const inheritance&);
    signal_inbox(const signal_inbox&) = delete;

    /// Returns when there is a signal to take. Takes none, so this call may be cancelled without
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
