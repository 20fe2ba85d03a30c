// SPDX-License-Identifier: Apache-2.0
#include "trace_client.hpp"

#include "support/holds.hpp"
#include "trace_redisson.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <variant>

namespace holdfast::support {
namespace {

std::string text_of(const redis::argument& value, const runtime::remote_clock& clock) {
    if (const auto* text = std::get_if<std::string_view>(&value))
        return std::string{*text};
    if (const auto* number = std::get_if<std::int64_t>(&value))
        return std::to_string(*number);
    const auto moment = clock.no_later_than(std::get<redis::server_deadline>(value).at);
    return std::to_string(moment ? moment->count() : 0);
}

} // namespace

asio::awaitable<redis::reply> blocking_node::call(const redis::script& what,
                                                  std::span<const std::string_view> keys,
                                                  std::span<const redis::argument> arguments,
                                                  redis::call_options) {
    std::vector<std::string> words{"EVALSHA", std::string{what.sha1}, std::to_string(keys.size())};
    words.insert(words.end(), keys.begin(), keys.end());
    for (const redis::argument& each : arguments)
        words.push_back(text_of(each, *clock_));

    const time_point sent_at = time_.now();
    redis::reply answer = command_connection_.command(words);
    if (answer.text.starts_with("NOSCRIPT")) {
        words[0] = "EVAL";
        words[1] = what.text;
        answer = command_connection_.command(words);
    }
    if (answer.type == redis::reply::kind::error)
        throw std::runtime_error{std::string{what.name} + ": " + answer.text};
    answer.sent_at = sent_at;
    answer.received_at = time_.now();
    answer.clock = clock_;
    co_return answer;
}

class blocking_node::one_listener final : public redis::hearing {
public:
    one_listener(blocking_node& home, std::string channel, alarm& wake)
        : home_{home}
        , entry_{home.listeners_.emplace(std::move(channel), &wake)} {
        home_.subscriber_.subscribe(entry_->first);
    }
    ~one_listener() override { home_.listeners_.erase(entry_); }
    asio::awaitable<bool> confirmed(time_point) override { co_return true; }

private:
    blocking_node& home_;
    std::multimap<std::string, alarm*>::iterator entry_;
};

std::unique_ptr<redis::hearing> blocking_node::hear(redis::channel_name channel, alarm& wake,
                                                    redis::linger) {
    return std::make_unique<one_listener>(*this, std::move(channel.text), wake);
}

void blocking_node::deliver() {
    for (const message& heard : subscriber_.take()) {
        const auto [first, last] = listeners_.equal_range(heard.channel);
        for (auto each = first; each != last; ++each)
            each->second->ring();
    }
}

} // namespace holdfast::support

namespace holdfast::trace {
namespace {

/// Between two looks of a spin lock; the library's own pauses are src/sync's.
constexpr duration spin_pause{128};

redis::reply text_or_nil(std::int64_t count) {
    redis::reply answer;
    if (count == 0)
        return answer;
    answer.type = redis::reply::kind::text;
    answer.text = std::to_string(count);
    return answer;
}

/// `tryLock()` tries once, `tryLock(wait, …, unit)` waits, `lock` waits for ever; and so does
/// `tryLockAndGetToken()`, against its name.
duration timeout_of(const step& asked) {
    const bool gives_up = asked.made.what.find("tryLock") != std::string::npos;
    if (!gives_up || (asked.arguments.empty() && asked.pending))
        return duration::max();
    const bool has_unit = asked.arguments.size() > 1 && asked.arguments.back().is_string();
    return duration{has_unit ? asked.arguments.front().as_int64() : 0};
}

} // namespace

client::client(support::redis_server& server, std::string label)
    : server_{server}
    , label_{std::move(label)}
    , node_{server.socket_path(), clock_}
    , context_{io_.get_executor(), clock_, [] { return 0; }, {}, {}, duration{5'000}, {}} {}

owner_id client::owner_of(const std::string& owner) const {
    const std::string thread = owner.substr(owner.find(':') + 1);
    owner_id made;
    made.client.fill(static_cast<std::uint8_t>(label_.back()));
    made.client[6] = 0x8f; // as ours are told from a JVM's
    made.client[7] = 0xd5;
    made.number = thread[0] == 'T' ? 1'000 + std::stoull(thread.substr(1)) : std::stoull(thread);
    return made;
}

hold client::hold_of(const key& which, lock_kind if_unknown) const {
    const auto held = holdings_.find(which);
    const lock_kind kind = held == holdings_.end() ? if_unknown : held->second.want.kind;
    return hold{which.first, owner_of(which.second), kind};
}

client::holding& client::line_up(const key& which, lock_kind kind, duration lease,
                                 time_point give_up_at) {
    const auto [entry, is_new] = holdings_.try_emplace(
        which, holding{ask{lock_name{which.first}, owner_of(which.second), kind},
                       clock_.make_alarm(), nullptr});
    holding& made = entry->second;
    made.entered_again = made.entered_again || made.count > 0;
    made.want.lease_time = is_new ? lease : std::max(lease, made.want.lease_time);
    made.want.give_up_at = give_up_at;
    ask now = made.want;
    now.lease_time = lease;
    now.waits = give_up_at > clock_.now();
    now.outlasts = place_outlasts;
    made.spot = store_.line_up(std::move(now), *made.wake);
    return made;
}

void client::begin(const step& asked) {
    const command& first = asked.commands.at(0);
    const duration timeout = timeout_of(asked);
    const time_point give_up_at = timeout == duration::max()
                                      ? time_point::max()
                                      : clock_.now() + std::max(timeout, duration::zero());
    const lock_kind kind = is_of_a_fair_lock(first) ? lock_kind::fair : asked.kind;
    holding& wanted = line_up({first.keys.at(0), first.words.at(1)}, kind,
                              duration{std::stoll(first.words.at(0))}, give_up_at);
    asio::co_spawn(io_, acquire(asked.made, wanted), [](std::exception_ptr failure) {
        if (failure)
            std::rethrow_exception(failure);
    });
    settle();
}

asio::awaitable<void> client::acquire(call made, holding& wanted) {
    for (;;) {
        const answer said = co_await wanted.spot->look();
        if (said.granted) {
            const bool again = wanted.count++ > 0;
            tokens_saved_ += again && said.token != 0 ? 1 : 0;
            ended_.push_back({made, true, said.token});
            co_return;
        }
        const bool polls = wanted.want.kind == lock_kind::spin;
        const duration pause = polls ? std::min(said.term, spin_pause) : said.term;
        if (clock_.now() >= wanted.want.give_up_at)
            break;
        co_await wanted.wake->wait_until(std::min(clock_.now() + pause, wanted.want.give_up_at));
    }
    co_await wanted.spot->leave();
    ended_.push_back({made, false});
}

void client::settle() {
    clock_.run_for(duration::zero());
    node_.deliver();
    clock_.run_for(duration::zero());
}

void client::advance(duration length) {
    clock_.run_for(length);
    settle();
}

std::optional<redis::reply> client::run(const command& made) {
    if (made.what == "lock.unlock")
        return unlock({made.keys.at(0), made.words.at(2)}, lock_kind::plain);
    if (made.what == "fair.unlock")
        return unlock({made.keys.at(0), made.words.at(2)}, lock_kind::fair);
    if (made.what == "spin.unlock")
        return unlock({made.keys.at(0), made.words.at(1)}, lock_kind::spin);
    if (made.what.ends_with(".force-unlock"))
        return integer(force_unlock(made.keys.at(0)) ? 1 : 0);
    if (made.what == "lock.renew")
        return renew(made);
    if (made.what == "EXISTS")
        return integer(complete(inspector_.inspect(made.words.at(0))) ? 1 : 0);
    if (made.what == "HEXISTS")
        return integer(still_held(made.words.at(0), made.words.at(1)) ? 1 : 0);
    if (made.what == "HGET") {
        const auto held = holdings_.find({made.words.at(0), made.words.at(1)});
        return text_or_nil(held == holdings_.end() ? 0 : held->second.count);
    }
    if (made.what == "GET")
        return last_token(made.words.at(0));
    if (made.what == "PTTL")
        return time_left(made.words.at(0));
    return redisson{server_}.run(made); // what we have no verb for
}

bool client::still_held(const std::string& name, const std::string& owner) {
    const hold held = hold_of({name, owner});
    const hold* const one[] = {&held};
    return complete(support::renewed(store_, one, duration::zero())).at(0).granted;
}

redis::reply client::unlock(const key& which, lock_kind if_unknown) {
    const auto held = holdings_.find(which);
    if (held != holdings_.end() && --held->second.count > 0)
        return integer(0);
    hold last = hold_of(which, if_unknown);
    if (if_unknown == lock_kind::fair)
        last.kind = if_unknown; // the one label that says it
    if (held != holdings_.end())
        holdings_.erase(held);
    return complete(store_.release(std::move(last))) ? integer(1) : redis::reply{};
}

redis::reply client::last_token(const std::string& counter) {
    const std::size_t begin = counter.find('{') + 1;
    lock_name name{counter.substr(begin, counter.find('}') - begin)};
    const auto last = static_cast<std::int64_t>(complete(inspector_.last_token(std::move(name))));
    return text_or_nil(last + tokens_saved_);
}

bool client::force_unlock(const std::string& name) {
    return complete(inspector_.force_release(name, {})).was_locked;
}

redis::reply client::renew(const command& made) {
    const duration lease{std::stoll(made.words.at(0))};
    std::vector<hold> holds;
    for (std::size_t i = 0; i < made.keys.size(); ++i) {
        const key which{made.keys[i], made.words.at(i + 1)};
        holds.push_back(hold_of(which));
        if (const auto held = holdings_.find(which); held != holdings_.end())
            held->second.want.lease_time = std::max(held->second.want.lease_time, lease);
    }
    redis::reply all;
    all.type = redis::reply::kind::array;
    const auto listed = support::listed(holds);
    for (const answer& each : complete(support::renewed(store_, listed, lease)))
        all.items.push_back(integer(each.granted ? 1 : 0));
    const bool was_single = made.answer && made.answer->is_int64();
    return was_single ? all.items.at(0) : all;
}

redis::reply client::time_left(const std::string& name) {
    const std::optional<holdfast::holding> found = complete(inspector_.inspect(name));
    if (!found)
        return integer(-2);
    return integer(found->remaining ? found->remaining->count() : -1);
}

std::optional<duration> client::longest_lease(const std::string& name,
                                              const std::string& owner) const {
    const auto held = holdings_.find({name, owner});
    if (held == holdings_.end() || !held->second.entered_again)
        return std::nullopt;
    return held->second.want.lease_time;
}

} // namespace holdfast::trace
