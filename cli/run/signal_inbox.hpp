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

/// Reads the signals that are sent to this process, and SIGCHLD. From its construction on they are
/// blocked, and read from a descriptor: none is lost and none interrupts. Make it before any thread
/// is started, so that all threads have them blocked.
class signal_inbox {
public:
    /// Signals that were ignored when the program started stay so: that is how nohup works.
    signal_inbox(asio::io_context&, const inheritance&);
    signal_inbox(const signal_inbox&) = delete;

    /// Returns when there is one to take, and takes none: it may lose a race without harm.
    asio::awaitable<void> arrival();
    [[nodiscard]] std::optional<int> take();

    /// Unblocks the signals: the next Ctrl-C ends the program.
    void let_through();

private:
    const inheritance& inherited_;
    asio::posix::stream_descriptor descriptor_;
};

} // namespace cli
