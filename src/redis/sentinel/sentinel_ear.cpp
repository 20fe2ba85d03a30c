// SPDX-License-Identifier: Apache-2.0
#include "redis/sentinel/sentinel_ear.hpp"

#include "net/backoff.hpp"
#include "net/later.hpp"
#include "redis/link/inquiry.hpp"
#include "redis/sentinel/sentinel_login.hpp"
#include "runtime/background.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace holdfast::redis {

sentinel_ear::sentinel_ear(known_context context, std::size_t first, news tell)
    : context_{std::move(context)}
    , next_{first}
    , tell_{std::move(tell)}
    , rest_{context_->home.time.make_alarm()}
    , silence_{context_->home.time.make_alarm()} {}

void sentinel_ear::open() {
    runtime::run_in_background(context_->home, keep_hearing(shared_from_this()));
}

void sentinel_ear::close() {
    closed_ = true;
    rest_->ring();
    silence_->ring();
    if (line_)
        line_->cut({errc::closed, "the client is closed"});
}

target sentinel_ear::next_target() {
    const sentinel_options& set = *context_->how.sentinel;
    const server_address& where = set.addresses[next_++ % set.addresses.size()];
    return std::make_shared<const destination>(sentinel_at(where), set.tls);
}

// Errors are not reported, because the next Sentinel is tried, and all Sentinels are asked
// periodically anyway.
asio::awaitable<void> sentinel_ear::keep_hearing(self mine) {
    const store_context& home = mine->context_->home;
    net::backoff pause{pause_min, pause_max};
    while (!mine->closed_) {
        const auto line = mine->line_ = std::make_shared<connection>(home, mine->context_->how);
        const time_point began = home.time.now();
        try {
            co_await mine->hear_one(line);
        } catch (const std::exception&) {
            line->cut({errc::unreachable, "given up"});
        }
        mine->silence_->ring();
        if (mine->closed_)
            break;
        if (home.time.now() - began > pause_max)
            pause.reset();
        const time_point next = net::later(home.time.now(), pause.next(home.random()));
        while (!mine->closed_ && home.time.now() < next)
            co_await mine->rest_->wait_until(next);
    }
    mine->line_.reset();
}

asio::awaitable<void> sentinel_ear::hear_one(shared_connection line) {
    const store_context& home = context_->home;
    const time_point limit = net::later(home.time.now(), context_->how.connect_timeout);
    co_await greet(*context_, *line, next_target(), sentinel_login(*context_), limit);
    hear_of_switches(composer{line->outbox()});
    if (!line->send())
        co_await line->send_rest();
    heard_at_ = home.time.now();
    runtime::run_in_background(home, notice_silence(shared_from_this(), line));
    for (;;) {
        const reply said = co_await line->answer();
        heard_at_ = home.time.now();
        take(said);
    }
}

void sentinel_ear::take(const reply& said) {
    if (said.type == reply::kind::error) // this Sentinel refuses subscriptions, so try another
        throw net::failure{errc::unreachable, said.text};
    if (said.items.size() != 3 || said.items[0].text != "message")
        return;
    if (const auto heard = read_switch(said.items[2].text, context_->how.sentinel->service))
        tell_(*heard);
}

/// Sends a PING after a silence, and ends the connection if no reply comes. Otherwise the loss of a
/// Sentinel that vanished without notice would never be found.
asio::awaitable<void> sentinel_ear::notice_silence(self mine, shared_connection line) {
    const clock& time = mine->context_->home.time;
    bool asked = false;
    while (!mine->closed_ && mine->line_ == line && !line->is_cut()) {
        const time_point due = net::later(mine->heard_at_, asked ? 2 * idle_max : idle_max);
        if (time.now() < due) {
            co_await mine->silence_->wait_until(due);
            asked = asked && time.now() - mine->heard_at_ >= idle_max;
        } else if (std::exchange(asked, true) || !line->can_send()) {
            line->cut({errc::unreachable, "it says nothing any more"});
        } else {
            composer{line->outbox()}.request({"PING"});
            if (!line->send())
                line->cut({errc::unreachable, "it takes nothing any more"});
        }
    }
}

} // namespace holdfast::redis
