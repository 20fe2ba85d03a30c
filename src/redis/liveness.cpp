// SPDX-License-Identifier: Apache-2.0
#include "redis/liveness.hpp"

#include "net/credentials.hpp"
#include "net/later.hpp"
#include "redis/ear/ear.hpp"
#include "redis/lanes/lanes.hpp"
#include "redis/link/inquiry.hpp"
#include "redis/mouth/mouths.hpp"
#include "redis/wire/composer.hpp"
#include "runtime/background.hpp"

#include <algorithm>
#include <exception>
#include <utility>
#include <vector>

namespace holdfast::redis {

liveness::liveness(std::shared_ptr<node_context> context, std::shared_ptr<mouths> shared,
                   std::shared_ptr<lanes> own, std::shared_ptr<ear> listening)
    : context_{std::move(context)}
    , mouths_{std::move(shared)}
    , lanes_{std::move(own)}
    , ear_{std::move(listening)}
    , patience_{std::max(std::min(context_->how.connect_timeout, context_->how.command_timeout / 2),
                         duration{1})}
    , grace_{std::max(context_->how.command_timeout / 12, duration{1})}
    , rest_{context_->home.time.make_alarm()} {}

void liveness::look() {
    if (closed_ || !context_->where || context_->home.time.now() < not_before_ ||
        std::exchange(checks_, true))
        return;
    runtime::run_in_background(context_->home, check(shared_from_this()));
}

asio::awaitable<void> liveness::check(self mine) {
    const clock& time = mine->context_->home.time;
    const time_point began = time.now();
    mine->not_before_ = net::later(began, mine->patience_);
    const bool answers = co_await mine->answers_anew(net::later(began, mine->patience_));
    if (answers && !mine->closed_) {
        const time_point until = net::later(time.now(), mine->grace_);
        while (!mine->closed_ && time.now() < until)
            co_await mine->rest_->wait_until(until);
        if (!mine->closed_)
            mine->cut_silent(began);
    }
    mine->checks_ = false;
}

asio::awaitable<bool> liveness::answers_anew(time_point limit) {
    const options& how = context_->how;
    const auto line = line_ = std::make_shared<connection>(context_->home, how);
    bool answers = false;
    try {
        std::string words;
        composer{words}.request({"EVAL", "return 1", "0"});
        login as{net::credentials_now({how.user, how.password}, how.credentials)};
        const std::vector<reply> said = co_await inquire(*context_, *line, context_->where,
                                                         std::move(as), std::move(words), 1, limit);
        answers = said.front().type == reply::kind::integer;
    } catch (const std::exception&) {
        line->cut({errc::unreachable, "given up"});
    }
    line_.reset();
    co_return answers;
}

/// Ends the connections on which a reply has been missing since `since` or longer. If there are
/// any, tests the other connections too.
void liveness::cut_silent(time_point since) {
    const net::failure why{errc::outcome_unknown,
                           context_->address() +
                               " answers over a new connection, but not over this one"};
    const bool lanes_were = lanes_->cut_silent(since, why);
    const bool ear_was = ear_->cut_silent(since, why);
    const bool mouths_were = mouths_->cut_silent(since, why);
    if (!lanes_were && !ear_was && !mouths_were)
        return;
    lanes_->cut(why); // each lane ends as soon as no call uses it
    ear_->ask_if_there();
    mouths_->ask_if_there();
}

void liveness::close() noexcept {
    if (std::exchange(closed_, true))
        return;
    if (line_)
        line_->cut({errc::closed, "the client is closed"});
    rest_->ring();
}

} // namespace holdfast::redis
