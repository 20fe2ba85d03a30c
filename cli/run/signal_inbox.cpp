// SPDX-License-Identifier: Apache-2.0
#include "cli/run/signal_inbox.hpp"

#include "cli/run/inheritance.hpp"

#include <boost/asio/use_awaitable.hpp>

#include <system_error>

#include <sys/signalfd.h>
#include <unistd.h>

namespace cli {
namespace {

int block_and_open(const inheritance& inherited, sigset_t& before) {
    sigset_t ours;
    ::sigemptyset(&ours);
    for (const int each :
         {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT, SIGCHLD})
        if (!inherited.ignores(each))
            ::sigaddset(&ours, each);
    ::pthread_sigmask(SIG_BLOCK, &ours, &before);
    const int fd = ::signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);
    if (fd < 0)
        throw std::system_error{errno, std::system_category(), "signalfd"};
    return fd;
}

} // namespace

signal_inbox::signal_inbox(asio::io_context& loop, const inheritance& inherited)
    : descriptor_{loop, block_and_open(inherited, before_)} {}

asio::awaitable<void> signal_inbox::arrival() {
    co_await descriptor_.async_wait(asio::posix::stream_descriptor::wait_read, asio::use_awaitable);
}

std::optional<int> signal_inbox::take() {
    signalfd_siginfo one{};
    if (::read(descriptor_.native_handle(), &one, sizeof one) != sizeof one)
        return std::nullopt;
    return static_cast<int>(one.ssi_signo);
}

void signal_inbox::let_through() {
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

} // namespace cli
