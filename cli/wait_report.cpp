// SPDX-License-Identifier: Apache-2.0
#include "cli/wait_report.hpp"

#include "cli/holder.hpp"
#include "cli/say.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <sys/ioctl.h>
#include <unistd.h>

namespace cli {
namespace {

using holdfast::boot_clock;
using namespace std::chrono_literals;

bool stderr_is_terminal() {
    const char* const kind = std::getenv("TERM");
    return ::isatty(STDERR_FILENO) == 1 && kind != nullptr && std::string_view{kind} != "dumb";
}

std::size_t columns() {
    winsize size{};
    const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
    return known ? size.ws_col : 80;
}

void write_raw(const std::string& text) {
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
}

std::string seconds(holdfast::duration length) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f s", std::chrono::duration<double>{length}.count());
    return text;
}

} // namespace

wait_report::wait_report(holdfast::client& home, const std::string& lock, bool verbose)
    : home_{home}
    , lock_{lock}
    , name_{"'" + printable(lock, 40) + "'"}
    , verbose_{verbose}
    , in_place_{stderr_is_terminal()} {}

asio::awaitable<void> wait_report::tell() {
    if (!verbose_ && !in_place_)
        co_await stop_requested({});
    // Most waits are shorter, and nobody wants to read of them.
    co_await pause(verbose_ ? 100ms : 700ms);
    for (;;) {
        std::string holder;
        try {
            holder = co_await who_holds(home_, lock_);
        } catch (const boost::system::system_error& failure) {
            if (failure.code() == asio::error::operation_aborted)
                throw;
        }
        show(holder);
        co_await pause(1s);
    }
}

void wait_report::show(const std::string& holder) {
    if (verbose_ && !in_place_ && !shown_)
        say("waiting for lock " + name_ + (holder.empty() ? "" : ", " + holder));
    if (in_place_) {
        std::string line = "holdfast: waiting for lock " + name_ + ", " +
                           seconds(boot_clock::now() - since_) +
                           (holder.empty() ? "" : "; " + holder);
        line.resize(std::min(line.size(), columns() - 1)); // a wrapped one cannot be written over
        write_raw("\r" + line + "\x1b[K");
    }
    shown_ = true;
}

void wait_report::clear() {
    if (shown_ && in_place_)
        write_raw("\r\x1b[K");
    shown_ = false;
}

wait_report::~wait_report() {
    clear();
}

void wait_report::granted() {
    clear();
    if (verbose_)
        say("has lock " + name_ + " after " + seconds(boot_clock::now() - since_));
}

} // namespace cli
