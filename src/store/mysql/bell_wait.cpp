// SPDX-License-Identifier: Apache-2.0
#include "store/mysql/bell_wait.hpp"

#include "runtime/background.hpp"

#include <boost/system/system_error.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace holdfast::mysql {
namespace {

using std::chrono::seconds;

/// The longest wait in one statement. The server measures its timeout with its system date, which
/// may jump. Therefore the client itself stops waiting one second after the timeout.
constexpr seconds longest_wait{5};
constexpr seconds margin{1};

seconds wait_of(const site& at) {
    const auto limit = std::chrono::floor<seconds>(at.server.command_timeout());
    return std::min(longest_wait, limit - margin);
}

} // namespace

/// State that the object and its loop share.
struct bell_wait::state {
    state(site& where, std::string name, alarm& to_ring)
        : at{where}
        , bell{std::move(name)}
        , wake{&to_ring} {}

    void ring() {
        if (wake)
            wake->ring();
    }

    site& at;
    const std::string bell;
    alarm* wake; ///< null: nobody waits any more
    std::shared_ptr<carrier> on{};
    bool has_bell = false, waits = true;
};

namespace {

/// Sends GET_LOCK once. Returns true if the connection got the user lock. Returns false if the wait
/// timed out. Throws if the request failed.
asio::awaitable<bool> wait_once(site& at, const std::string& bell, std::shared_ptr<carrier> on) {
    const seconds patience = wait_of(at);
    const std::string text =
        "SELECT GET_LOCK('" + bell + "'," + std::to_string(patience.count()) + ")";
    const auto make = [&](const runtime::remote_clock&, const server_facts&) {
        return std::vector<std::string>{text};
    };
    composing waiting{make};
    call_wishes wishes{.answer_by = at.context.time.now() + patience + margin, .on = on};
    const answers said = co_await at.server.run(waiting, wishes);
    const result& got = answer_at(said, 0);
    co_return !got.rows.empty() && !got.rows.front().empty() && got.rows.front().front() == "1";
}

} // namespace

bool bell_wait::is_of_use(const site& at) {
    return at.server.has_bells() && wait_of(at) >= seconds{1};
}

bell_wait::bell_wait(site& at, const lock_name& name, alarm& wake)
    : state_{std::make_shared<state>(at, at.bell(name), wake)} {
    // The loop is a lambda without captures. Its arguments then live in the coroutine's frame.
    const auto loop = [](std::shared_ptr<state> self) -> asio::awaitable<void> {
        try {
            self->on = co_await self->at.server.connection_to_wait_on(
                self->at.context.time.now() + self->at.server.command_timeout());
            while (self->on && self->wake && !self->has_bell) {
                self->has_bell = co_await wait_once(self->at, self->bell, self->on);
                self->ring();
            }
        } catch (const boost::system::system_error&) {
            if (self->on)
                self->on->cut();
            self->on.reset();
        }
        self->waits = false;
        if (!self->wake && self->on)
            self->on->cut();
        self->ring();
    };
    runtime::run_in_background(at.context, loop(state_));
}

bell_wait::~bell_wait() {
    state_->wake = nullptr;
    if (state_->on)
        state_->on->cut();
}

bool bell_wait::is_waiting() const noexcept {
    return state_->waits;
}

std::shared_ptr<carrier> bell_wait::rung_on() const noexcept {
    const bool has_it = state_->has_bell && state_->on && !state_->on->is_cut();
    return has_it ? state_->on : nullptr;
}

void bell_wait::is_handed_over() noexcept {
    state_->on.reset();
}

} // namespace holdfast::mysql
