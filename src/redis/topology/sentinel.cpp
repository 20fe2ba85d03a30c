// SPDX-License-Identifier: Apache-2.0
#include "redis/topology/sentinel.hpp"

#include "net/deadlines.hpp"
#include "runtime/background.hpp"

#include <algorithm>
#include <exception>
#include <iterator>
#include <utility>

namespace holdfast::redis {
namespace {

/// Maximum number of former primaries that are remembered. A service usually has fewer servers than
/// that.
constexpr std::size_t left_max = 8;

std::optional<std::uint64_t> newest_of(std::span<const sentinel_answer> answers) {
    std::optional<std::uint64_t> newest;
    for (const sentinel_answer& one : answers)
        newest = std::max(newest, one.epoch); // an empty epoch is less than any other
    return newest;
}

template <typename Condition>
std::vector<sentinel_answer> those(std::span<const sentinel_answer> answers, Condition holds) {
    std::vector<sentinel_answer> some;
    std::ranges::copy_if(answers, std::back_inserter(some), holds);
    return some;
}

std::vector<server_address> servers_of(const sentinel_answer& one) {
    std::vector<server_address> all = one.replicas.value_or(std::vector<server_address>{});
    all.push_back(*one.primary);
    return all;
}

bool share_any(const std::vector<server_address>& one, const std::vector<server_address>& other) {
    return std::ranges::any_of(one, [&](const server_address& each) {
        return std::ranges::find(other, each) != other.end();
    });
}

/// Group of Sentinels that watch the same servers: their replies, and these servers.
struct watchers {
    std::vector<sentinel_answer> answers;
    std::vector<server_address> servers;
};

/// Adds a reply to the groups. Merges all groups that share a server with the reply.
void join(std::vector<watchers>& all, const sentinel_answer& one) {
    watchers joined{{one}, servers_of(one)};
    for (watchers& each : all) {
        if (!share_any(each.servers, joined.servers))
            continue;
        std::ranges::copy(each.answers, std::back_inserter(joined.answers));
        std::ranges::copy(each.servers, std::back_inserter(joined.servers));
        each.answers.clear();
    }
    std::erase_if(all, [](const watchers& each) { return each.answers.empty(); });
    all.push_back(std::move(joined));
}

} // namespace

sentinel_choice::verdict sentinel_choice::decide(std::span<const sentinel_answer> all,
                                                 std::size_t asked, time_point now) {
    const auto answers = those(all, [](const auto& one) { return one.primary.has_value(); });
    if (answers.empty())
        return all.empty() ? verdict::nobody_answers : verdict::unknown_service;
    const proposal made = propose(of_our_service(without_unknown_primaries(answers, asked), asked));
    const bool most_agree = 2 * made.votes > asked;
    const bool counts =
        !made.is_older && !made.is_strange && (most_agree || !is_unknown(made.where));
    if (counts)
        epoch_ = std::max(epoch_, made.epoch);
    if (speaks_against_us(made)) {
        const bool corrects_the_first = made.is_strange && !confirmed_;
        if (!most_agree || (!corrects_the_first && !is_agreed(made, now)))
            return verdict::stays;
    } else {
        disputed_.reset();
        if (primary_ && made.where != *primary_ && !made.is_newer && !most_agree)
            return verdict::stays;
    }
    epoch_ = counts ? epoch_ : made.epoch;
    disputed_.reset();
    confirmed_ = confirmed_ || most_agree;
    if (made.tells_replicas || made.is_strange || !knows_replicas_) {
        servers_ = made.servers;
        knows_replicas_ = made.tells_replicas;
    }
    if (made.where == primary_)
        return verdict::stays;
    go_to(made.where);
    return verdict::moves;
}

/// Removes replies that name an unknown server as the primary. Keeps such a reply if more than half
/// of the Sentinels name the same server, or if no other reply would remain.
std::vector<sentinel_answer>
sentinel_choice::without_unknown_primaries(std::span<const sentinel_answer> answers,
                                           std::size_t asked) const {
    const auto counts = [&](const sentinel_answer& one) {
        const auto votes = static_cast<std::size_t>(
            std::ranges::count(answers, one.primary, &sentinel_answer::primary));
        return !is_unknown(*one.primary) || 2 * votes > asked;
    };
    std::vector<sentinel_answer> some = those(answers, counts);
    return some.empty() ? std::vector<sentinel_answer>{answers.begin(), answers.end()} : some;
}

/// Returns the replies of the Sentinels that watch our servers. Returns the replies of the largest
/// group of Sentinels instead if that group has more than half of all Sentinels. Also returns these
/// if no Sentinel watches our servers, or if most Sentinels have not confirmed our servers yet.
std::vector<sentinel_answer>
sentinel_choice::of_our_service(std::span<const sentinel_answer> answers, std::size_t asked) const {
    const bool none_tells = std::ranges::none_of(
        answers, [](const sentinel_answer& one) { return one.replicas.has_value(); });
    if (none_tells) // then two Sentinels of one service may name no common server
        return {answers.begin(), answers.end()};
    std::vector<watchers> services;
    for (const sentinel_answer& one : answers)
        join(services, one);
    const auto is_less = [&](const watchers& one, const watchers& other) {
        const auto is_ours = [&](const server_address& each) { return is_known(each); };
        const bool here = std::ranges::any_of(one.servers, is_ours);
        const bool there = std::ranges::any_of(other.servers, is_ours);
        const std::size_t size = one.answers.size(), others_size = other.answers.size();
        const bool largest_counts = !confirmed_ || 2 * std::max(size, others_size) > asked;
        if (largest_counts && size != others_size)
            return size < others_size;
        return here != there ? there : size < others_size;
    };
    return std::ranges::max_element(services, is_less)->answers;
}

bool sentinel_choice::is_known(const server_address& where) const {
    return where == primary_ || std::ranges::find(servers_, where) != servers_.end();
}

/// Returns whether the server is certainly new. A new server is neither our primary nor a known
/// replica.
bool sentinel_choice::is_unknown(const server_address& where) const {
    return confirmed_ && knows_replicas_ && !is_known(where);
}

sentinel_choice::proposal sentinel_choice::propose(std::span<const sentinel_answer> answers) const {
    proposal made;
    made.epoch = newest_of(answers);
    made.is_newer = epoch_ && made.epoch > epoch_;
    const bool all_tell = std::ranges::all_of(
        answers, [](const sentinel_answer& one) { return one.epoch.has_value(); });
    made.is_older = all_tell && made.epoch < epoch_;
    if (made.is_newer || all_tell)
        elect(made, those(answers, [&](const auto& one) { return one.epoch == made.epoch; }));
    else
        elect(made,
              those(answers, [&](const auto& one) { return !one.epoch || one.epoch >= epoch_; }));
    return made;
}

/// Returns the server that most of the replies name. If equally many replies name two servers, and
/// one of them is the primary in use, this primary wins.
void sentinel_choice::elect(proposal& made, std::span<const sentinel_answer> answers) const {
    for (const sentinel_answer& one : answers) {
        const auto votes = static_cast<std::size_t>(
            std::ranges::count(answers, one.primary, &sentinel_answer::primary));
        if (votes > made.votes || (votes == made.votes && one.primary == primary_)) {
            made.where = *one.primary;
            made.votes = votes;
        }
    }
    bool all_tell = true;
    for (const sentinel_answer& one : answers) {
        all_tell = all_tell && one.replicas.has_value();
        made.tells_replicas = made.tells_replicas || one.replicas.has_value();
        std::ranges::copy(servers_of(one), std::back_inserter(made.servers));
    }
    const auto is_ours = [&](const server_address& each) { return is_known(each); };
    made.is_strange =
        primary_ && (all_tell || knows_replicas_) && std::ranges::none_of(made.servers, is_ours);
    if (made.is_strange || is_unknown(made.where))
        made.is_newer = false;
}

bool sentinel_choice::speaks_against_us(const proposal& made) const {
    return made.is_older || made.is_strange ||
           (!made.is_newer && made.where != primary_ &&
            std::ranges::find(left_, made.where) != left_.end());
}

bool sentinel_choice::is_agreed(const proposal& made, time_point now) {
    if (!disputed_ || disputed_->where != made.where)
        disputed_ = {made.where, now};
    return now - disputed_->since >= agreed_after;
}

bool sentinel_choice::hear(const primary_switch& news) {
    if (!primary_ || news.from != *primary_ || news.to == *primary_ || is_unknown(news.to))
        return false;
    disputed_.reset();
    go_to(news.to);
    return true;
}

void sentinel_choice::go_to(const server_address& where) {
    std::erase(left_, where);
    if (primary_)
        left_.push_back(*primary_);
    if (left_.size() > left_max)
        left_.erase(left_.begin());
    primary_ = where;
}

sentinel_subscriber::sentinel_subscriber(known_context context, std::size_t first, news tell)
    : context_{std::move(context)}
    , next_{first}
    , tell_{std::move(tell)}
    , rest_{context_->home.time.make_alarm()}
    , silence_{context_->home.time.make_alarm()} {}

void sentinel_subscriber::open() {
    runtime::run_in_background(context_->home, keep_hearing(shared_from_this()));
}

void sentinel_subscriber::close() {
    closed_ = true;
    rest_->ring();
    silence_->ring();
    if (line_)
        line_->cut({errc::closed, "the client is closed"});
}

target sentinel_subscriber::next_target() {
    const sentinel_options& set = *context_->how.sentinel;
    const server_address& where = set.addresses[next_++ % set.addresses.size()];
    return std::make_shared<const destination>(sentinel_at(where), set.tls);
}

// Does not report errors. After an error, it tries the next Sentinel. Besides, all Sentinels are
// asked periodically.
asio::awaitable<void> sentinel_subscriber::keep_hearing(self mine) {
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

asio::awaitable<void> sentinel_subscriber::hear_one(shared_connection line) {
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

void sentinel_subscriber::take(const reply& said) {
    if (said.type == reply::kind::error) // this Sentinel refuses subscriptions: try another
        throw net::failure{errc::unreachable, said.text};
    if (said.items.size() != 3 || said.items[0].text != "message")
        return;
    if (const auto heard = read_switch(said.items[2].text, context_->how.sentinel->service))
        tell_(*heard);
}

/// Sends a PING if nothing was received for a while, and ends the connection if no reply comes. So
/// the client notices a Sentinel that vanished without notice.
asio::awaitable<void> sentinel_subscriber::notice_silence(self mine, shared_connection line) {
    const clock& time = mine->context_->home.time;
    bool asked = false;
    while (!mine->closed_ && mine->line_ == line && !line->is_cut()) {
        const time_point due = net::later(mine->heard_at_, asked ? 2 * idle_max : idle_max);
        if (time.now() < due) {
            co_await mine->silence_->wait_until(due);
            asked = asked && time.now() - mine->heard_at_ >= idle_max;
        } else if (std::exchange(asked, true) || !line->can_send()) {
            line->cut({errc::unreachable, "it sends nothing any more"});
        } else {
            composer{line->outbox()}.request({"PING"});
            if (!line->send())
                line->cut({errc::unreachable, "it accepts no data any more"});
        }
    }
}

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
    unknown_service_ = false; // the Sentinels may know the service now
    if (closed_ || std::exchange(running_, true))
        return;
    const auto tell = while_alive(shared_from_this(), &sentinel_watch::hear);
    const std::size_t sentinels = context_->how.sentinel->addresses.size();
    // Begin with a random Sentinel, so that not all clients use the same one.
    const std::size_t first = context_->home.random() % sentinels;
    for (std::size_t i = 0; i < std::min(subscribers_max, sentinels); ++i) {
        subscribers_.push_back(std::make_shared<sentinel_subscriber>(context_, first + i, tell));
        subscribers_.back()->open();
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
    const duration period = is_start() ? start_period : unhurried;
    const time_point unhurried_at = net::later(now, period - period * jitter / 5000);
    // Keep the pause even if the alarm `wake_` rings often.
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

/// Returns whether the client found its first primary only recently, and most Sentinels have not
/// named the primary yet.
bool sentinel_watch::is_start() const {
    return context_->where && !choice_.is_confirmed() &&
           context_->home.time.now() < net::later(found_at_, start_lasts);
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

/// Evaluates each round of questions that got a reply or a failure since the round was last
/// evaluated. Skips the newest round, which may not have enough replies yet. If `also_of_the_last`
/// is set, does not skip the newest round, and then forgets finished rounds.
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
        silence_ = "no Sentinel returned its address: " + troubles + hint_at_password(troubles);
    if (unknown_service_)
        silence_ = "the Sentinels do not know the service '" + context_->how.sentinel->service +
                   "'; SENTINEL MASTERS lists the services that they know";
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
    if (is_first)
        found_at_ = context_->home.time.now();
    else
        moved_(told_by);
}

void sentinel_watch::wake_finders() {
    for (alarm* const each : finders_)
        each->ring();
}

void sentinel_watch::close() {
    if (std::exchange(closed_, true))
        return;
    for (const std::shared_ptr<sentinel_subscriber>& each : subscribers_)
        each->close();
    for (const round& each : rounds_)
        each.asked->end();
    wake_->ring();
    wake_finders();
}

} // namespace holdfast::redis
