// SPDX-License-Identifier: Apache-2.0
#include "cli/run/wait_report.hpp"

#include "cli/look/lock_words.hpp"
#include "cli/run/holder.hpp"
#include "cli/terminal/output.hpp"
#include "cli/terminal/say.hpp"
#include "cli/text/utf8.hpp"

#include <unistd.h>

namespace cli {
namespace {

using holdfast::boot_clock;
using namespace std::chrono_literals;

void write_raw(const std::string& text) {
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
}

} // namespace

wait_report::wait_report(clients& homes, const locked_run& wanted, bool held_around)
    : homes_{homes}
    , wanted_{wanted}
    , thing_{wanted_thing(wanted, 40)}
    , held_around_{held_around}
    , in_place_{form_of(STDERR_FILENO).live} {}

asio::awaitable<void> wait_report::tell() {
    // Most waits are shorter, and nobody wants to read of them.
    co_await pause(wanted_.verbose ? 100ms : 700ms);
    co_await refuse_if_any_is_another(homes_, wanted_);
    if (held_around_)
        say(thing_ + " is held by a 'holdfast run' around this command (HOLDFAST_LOCKS): "
                     "this may wait until that one has ended");
    if (!wanted_.verbose && !in_place_)
        co_await stop_requested({});
    for (;;) {
        std::string holder;
        try {
            const wording form = in_place_ ? wording::brief : wording::full;
            holder = co_await who_holds_one(homes_, wanted_, form);
        } catch (const boost::system::system_error& failure) {
            if (failure.code() == asio::error::operation_aborted)
                throw;
            if (failure.code() == holdfast::errc::unreachable)
                holder = "the server cannot be reached";
        }
        show(holder);
        co_await pause(1s);
    }
}

void wait_report::show(const std::string& holder) {
    if (wanted_.verbose && !in_place_ && !shown_)
        say("waiting for " + thing_ + (holder.empty() ? "" : ", " + holder));
    if (in_place_) {
        const std::string line = "holdfast: waiting for " + thing_ + ", " +
                                 in_words(boot_clock::now() - since_) +
                                 (holder.empty() ? "" : "; " + holder);
        // A wrapped one could not be written over.
        write_raw("\r" + cut(line, form_of(STDERR_FILENO).columns - 1) + "\x1b[K");
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

void wait_report::granted(std::uint64_t fencing_token) {
    clear();
    if (wanted_.verbose)
        say("has " + thing_ + " after " + in_words(boot_clock::now() - since_) +
            (fencing_token != 0 ? ", with the token " + std::to_string(fencing_token) : ""));
}

} // namespace cli
