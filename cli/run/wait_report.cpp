// SPDX-License-Identifier: Apache-2.0
#include "cli/run/wait_report.hpp"

#include "cli/look/lock_words.hpp"
#include "cli/run/holder.hpp"
#include "cli/run/job.hpp"
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

wait_report::wait_report(clients& homes, const locked_run& wanted, const job* behind,
                         bool held_around)
    : homes_{homes}
    , wanted_{wanted}
    , thing_{wanted_thing(wanted, 40)}
    , behind_{behind}
    , held_around_{held_around}
    , live_{form_of(STDERR_FILENO).live} {}

bool wait_report::may_draw() const {
    return live_ && (behind_ == nullptr || behind_->is_in_foreground());
}

asio::awaitable<void> wait_report::tell() {
    // Most waits end earlier, and need no message.
    co_await pause(wanted_.verbose ? 100ms : 700ms);
    co_await refuse_if_any_is_another(homes_, wanted_);
    if (held_around_)
        say(thing_ + " is held by a 'holdfast run' around this command (HOLDFAST_LOCKS): "
                     "this may wait until that one has ended");
    if (!wanted_.verbose && !live_)
        co_await stop_requested({});
    for (;;) {
        while (!wanted_.verbose && !may_draw())
            co_await pause(1s); // until the shell brings this job to the foreground
        std::string holder;
        try {
            const wording form = may_draw() ? wording::brief : wording::full;
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
    if (!may_draw()) {
        if (wanted_.verbose && !told_)
            say("waiting for " + thing_ + (holder.empty() ? "" : ", " + holder));
        told_ = true;
    } else {
        const std::string line = "holdfast: waiting for " + thing_ + ", " +
                                 in_words(boot_clock::now() - since_) +
                                 (holder.empty() ? "" : "; " + holder);
        // Cut the line, because a wrapped line could not be overwritten.
        write_raw("\r" + cut(line, form_of(STDERR_FILENO).columns - 1) + "\x1b[K");
        drawn_ = true;
    }
}

void wait_report::clear() {
    if (drawn_ && may_draw())
        write_raw("\r\x1b[K");
    drawn_ = false;
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
