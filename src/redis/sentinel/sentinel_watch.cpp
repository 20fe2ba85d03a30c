// SPDX-License-Identifier: Apache-2.0
#include "redis/sentinel/sentinel_watch.hpp"

#include "net/later.hpp"
#include "redis/sentinel/sentinel_login.hpp"
#include "redis/sentinel/sentinel_words.hpp"
#include "redis/while_alive.hpp"
#include "runtime/background.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::redis {
namespace {

std::string hint_at_password(const std::string& troubles) {
    const bool is_refused = troubles.find("NOAUTH") != std::string::npos ||
                            troubles.find("WRONGPASS") != std::string::npos;
    return is_refused ? " (sentinel_user and sentinel_password are those of the Sentinels)" : "";
}

} // namespace

sentinel_watch::sentinel_watch(std::shared_ptr<node_context> context, on_move moved)
    : context_{std::move(context)}
    , moved_{std::move(moved)}
    , wake_{context_->home.time.make_alarm()} {}

asio::awaitable<void> sentinel_watch::find(time_point limit) {
    begin();
    const std::unique_ptr<alarm> told = context_->home.time.make_alarm();
    finders_.insert(told.get());
    const auto goes_on = [&] { return !context_->where && !unknown_service_ && !closed_; };
    while (goes_on() && context_->home.time.now() < limit)
        co_await told->wait_until(limit);
    finders_.erase(told.get());
    if (closed_)
        throw net::failure{errc::closed, "the client is closed"};
    if (!context_->where)
        throw net::failure{errc::unreachable, silence_};
}

void sentinel_watch::begin() {
    unknown_service_ = false; // the Sentinels may know the service by now
    if (closed_ || std::exchange(running_, true))
        return;
    const auto tell = while_alive(shared_from_this(), &sentinel_watch::hear);
    const std::size_t sentinels = context_->how.sentinel->addresses.size();
    // Start at a random Sentinel, so that clients spread over the Sentinels.
    const std::size_t first = context_->home.random() % sentinels;
    for (std::size_t i = 0; i < std::min(ears_max, sentinels); ++i) {
        ears_.push_back(std::make_shared<sentinel_ear>(context_, first + i, tell));
        ears_.back()->open();
    }
    runtime::run_in_background(context_->home, watch(shared_from_this()));
}

void sentinel_watch::in_trouble() {
    trouble_until_ = net::later(context_->home.time.now(), trouble_lasts);
    wake_->ring();
}

asio::awaitable<void> sentinel_watch::watch(self mine) {
    while (!mine->closed_) {
        co_await mine->ask_all();
        if (!mine->closed_)
            co_await mine->rest();
    }
    mine->wake_finders();
}

asio::awaitable<void> sentinel_watch::rest() {
    const store_context& home = context_->home;
    const auto jitter = static_cast<duration::rep>(home.random() % 1000);
    const time_point now = home.time.now();
    const time_point hurried =
        net::later(now, hurried_min + (hurried_max - hurried_min) * jitter / 1000);
    const time_point unhurried_at = net::later(now, unhurried - unhurried * jitter / 5000);
    // Keep the pause even if `wake_` is rung often.
    while (!closed_) {
        judge_late(true);
        const time_point here = home.time.now();
        const bool is_urgent = here < trouble_until_ || !context_->where;
        const time_point until = is_urgent ? hurried : unhurried_at;
        if (here >= until)
            break;
        co_await wake_->wait_until(until);
    }
}

asio::awaitable<void> sentinel_watch::ask_all() {
    const sentinel_options& set = *context_->how.sentinel;
    const time_point limit = net::later(context_->home.time.now(), context_->how.connect_timeout);
    std::string words;
    ask_sentinel(composer{words}, set.service);
    const auto who = [context = context_] { return sentinel_login(*context); };
    const auto asked =
        std::make_shared<inquiries>(context_, who, std::move(words), sentinel_questions, *wake_);
    rounds_.push_back({asked});
    for (const server_address& each : set.addresses)
        asked->ask(sentinel_at(each), set.tls, limit);
    const auto closed = [this] {
        judge_late(false);
        return closed_;
    };
    co_await asked->settled(inquiries::enough::most, settles_in, limit, closed);
    judge_late(true);
}

/// Evaluates each round that got another reply or failure since its last evaluation, and drops
/// finished rounds. The last round is evaluated only if `also_of_the_last` is set, because enough
/// of its replies must have come first.
void sentinel_watch::judge_late(bool also_of_the_last) {
    for (std::size_t i = 0; !closed_ && i + (also_of_the_last ? 0 : 1) < rounds_.size(); ++i) {
        const std::shared_ptr<inquiries> asked = rounds_[i].asked;
        const std::size_t count = asked->answers().size() + asked->failures().size();
        if (std::exchange(rounds_[i].judged, count) != count)
            judge(*asked);
    }
    if (also_of_the_last)
        std::erase_if(rounds_, [](const round& each) { return each.asked->pending() == 0; });
}

void sentinel_watch::judge(const inquiries& told) {
    using verdict = sentinel_choice::verdict;
    std::vector<sentinel_answer> answers;
    std::string troubles = told.troubles();
    for (const inquiries::answer& one : told.answers()) {
        try {
            answers.push_back(read_sentinel(one.said[0], one.said[1], one.said[2]));
        } catch (const net::failure& why) {
            const std::string whom = net::address_of(one.from);
            troubles += (troubles.empty() ? "" : "; ") + whom + ": " + why.text();
        }
    }
    const verdict outcome = choice_.decide(answers, told.asked(), context_->home.time.now());
    unknown_service_ = outcome == verdict::unknown_service;
    if (outcome == verdict::nobody_answers)
        silence_ = "no Sentinel says where it is: " + troubles + hint_at_password(troubles);
    if (unknown_service_)
        silence_ = "the Sentinels know no service '" + context_->how.sentinel->service +
                   "'; SENTINEL MASTERS lists those that they know";
    if (outcome == verdict::moves)
        go_to(*choice_.primary(), "the Sentinels");
    else
        wake_finders();
}

void sentinel_watch::hear(const primary_switch& heard) {
    if (closed_)
        return;
    if (choice_.hear(heard))
        go_to(*choice_.primary(), "a Sentinel");
    in_trouble(); // the others may know more: ask all Sentinels
}

void sentinel_watch::go_to(const server_address& where, const std::string& told_by) {
    const bool is_first = context_->where == nullptr;
    context_->where = std::make_shared<const destination>(where, context_->how.tls);
    wake_finders();
    if (!is_first)
        moved_(told_by);
}

void sentinel_watch::wake_finders() {
    for (alarm* const each : finders_)
        each->ring();
}

void sentinel_watch::close() {
    if (std::exchange(closed_, true))
        return;
    for (const std::shared_ptr<sentinel_ear>& each : ears_)
        each->close();
    for (const round& each : rounds_)
        each.asked->end();
    wake_->ring();
    wake_finders();
}

} // namespace holdfast::redis
