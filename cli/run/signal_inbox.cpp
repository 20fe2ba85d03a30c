// SPDX-License-Identifier: Apache-2.0
#include "cli/run/signal_inbox.hpp"

#include "cli/run/inheritance.hpp"
#include "cli/run/job_signals.hpp"

#include <boost/asio/use_awaitable.hpp>

#include <system_error>

#include <sys/signalfd.h>
#include <unistd.h>

namespace cli {
namespace {

int block_and_open(const inheritance& inherited) {
    const sigset_t ours = block_signals_of_job(inherited);
    const int fd = ::signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);
    if (fd < 0)
        throw std::system_error{errno, std::system_category(), "signalfd"};
    return fd;
}

} // namespace

signal_inbox::signal_inbox(asio::io_context& loop, const inheritance& inherited)
    : inherited_{inherited}
    , descriptor_{loop, block_and_open(inherited)} {}

asio::awaitable<void> signal_inbox::arrival() {
    co_await descriptor_.async_wait(asio::posix::stream_descriptor::wait_read, asio::use_awaitable);
}

std::optional<int> signal_inbox::take() {
    signalfd_siginfo one{};
    while (::read(descriptor_.native_handle(), &one, sizeof one) == sizeof one) {
        const auto signal = static_cast<int>(one.ssi_signo);
        if (!is_own_pipe(signal, static_cast<pid_t>(one.ssi_pid)))
            return signal;
    }
    return std::nullopt;
}

void signal_inbox::let_through() {
    ::signal(SIGPIPE, SIG_IGN); // a write to a closed pipe must not end this process
    ::pthread_sigmask(SIG_SETMASK, &inherited_.mask(), nullptr);
}

} // namespace cli
