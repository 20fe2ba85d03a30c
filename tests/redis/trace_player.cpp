// SPDX-License-Identifier: Apache-2.0
#include "trace_player.hpp"

#include <algorithm>

#include <gmock/gmock.h>

namespace holdfast::trace {
namespace {

/// Simulated time goes on in such steps where a recording does not say how long it waited.
constexpr duration tick{50};
constexpr duration longest_wait{6'000};

/// What was sent during a wait is replayed together, that long before its end (what was repeated
/// also at even distances before): renewals came after a second, and waits took a little longer.
constexpr duration end_of_wait{300};

int most_repeated(const step& played) {
    int most = 1;
    for (const command& each : played.commands)
        most = std::max(most, each.times);
    return most;
}

/// False, nothing, or the -1 that Redisson gives for a lock without an end, which it did not get.
bool was_granted(const step& played) {
    if (!played.result || *played.result == json::value(false) || *played.result == json::value(-1))
        return false;
    const bool is_try = played.made.what.find("tryLock") != std::string::npos;
    return !(is_try && played.result->is_null());
}

/// One recorded answer contradicts the state and the messages that were recorded with it (3.13.6,
/// nested-in-a-short-lease: an unlock that left the lock held answers as if it had freed it).
bool is_mistaken(const command& made, const step& played) {
    return made.what == "lock.unlock" && *made.answer == json::value(1) && played.messages.empty();
}

duration length_of_wait(const step& played) {
    const bool is_timed = played.made.what == "wait" && !played.arguments.empty();
    return duration{is_timed ? played.arguments[0].as_int64() : 0};
}

} // namespace

player::player(support::redis_server& server, std::set<std::string> ours)
    : server_{server}
    , redisson_{server}
    , messages_{server.socket_path()} {
    for (const std::string& label : ours)
        ours_.push_back(std::make_unique<client>(server, label));
    messages_.subscribe_to_all();
}

bool player::is_ours(const std::string& by) const {
    return std::ranges::any_of(ours_, [&](const auto& each) { return each->label() == by; });
}

std::string player::objection_to(const scenario& what) const {
    if (!ours_.empty() &&
        (what.name == "entry-without-deadline" || what.name == "expired-lock-unlocked-by-anyone" ||
         what.name == "interrupted"))
        return "is about what only Redisson does with a fair lock";
    if (!is_ours(client2) && (what.name == "dead-head" || what.name == "entry-without-deadline"))
        return "is about a JVM that asks without end";
    for (const step& each : what.steps) {
        if (!std::ranges::all_of(each.commands, is_known))
            return "is about another primitive";
        if (is_ours(each.made.by) &&
            (each.made.what == "thread.interrupt" || each.made.what == "future.cancel"))
            return "is about what becomes of an interrupted Java thread";
        for (const command& made : each.commands) {
            if (made.what.starts_with("fair-non-reentrant") && is_ours(client1))
                return "is about a refusal that we make before anything is sent";
            if (is_acquire(made) && is_ours(made.by) && std::stoll(made.words.at(0)) <= 0)
                return "has a lease that is refused before anything is sent";
        }
    }
    return {};
}

void player::play(const scenario& what) {
    server_.command({"FLUSHALL"});
    is_fair_ = std::ranges::any_of(what.steps, [](const step& each) {
        return std::ranges::any_of(each.commands, is_of_a_fair_lock);
    });
    prolonged_.clear();
    for (const step& each : what.steps) {
        step_began_ = std::chrono::steady_clock::now();
        SCOPED_TRACE(what.name + ", step " + std::to_string(each.number));
        play(each);
    }
}

void player::play(const step& played) {
    if (refused(played)) {
        state_ = played.state.value_or(state_);
        return;
    }
    if (client* us = one_of_us(played.made.by);
        us != nullptr && played.asks_for_a_lock() && !played.is_refused_reentry())
        us->begin(played);
    run_commands(played);
    wait_for_ends(played);
    std::vector<support::message> expected = expected_messages(played);
    for (support::message& each : expected)
        each.channel = with_our_owners(each.channel);
    std::vector<support::message> heard = messages_.take();
    for (const command& made : played.commands)
        if (made.what == "fair.force-unlock" && is_ours(made.by)) // ours tells plain waiters, too
            std::erase_if(heard, [&made](const auto& m) { return m.channel == made.keys.at(3); });
    if (is_fair_ && !ours_.empty()) // ours tells the first one once too often rather than never
        std::erase_if(heard, [&](const auto& m) { return std::ranges::count(expected, m) == 0; });
    EXPECT_EQ(heard, expected);
    compare_ends(played, std::exchange(ended_, {}));
    compare_state(played);
}

/// Redisson's unlock of a fair lock without a holder succeeds for every caller.
bool player::is_of_nothing(const command& made) const {
    return made.what == "fair.unlock" && is_ours(made.by) && !state_.contains(made.keys.at(0));
}

/// A JVM locks names that a cluster could not hold, and we do not.
bool player::refused(const step& played) {
    client* us = one_of_us(played.made.by);
    return us != nullptr && !played.commands.empty() && !played.commands[0].keys.empty() &&
           us->refuses(played.commands[0].keys[0]);
}

void player::run_commands(const step& played) {
    const duration wait = length_of_wait(played);
    const duration rest = std::min(wait, end_of_wait);
    const int rounds = most_repeated(played);
    for (int round = rounds; round > 0; --round) {
        advance((wait - rest) / rounds);
        for (const command& each : played.commands)
            if (each.times >= round)
                run_one(each, played);
    }
    advance(rest);
}

void player::run_one(const command& made, const step& played) {
    client* us = one_of_us(made.by);
    if (us != nullptr && (is_acquire(made) || made.what == "fair.give-up"))
        return; // our calls ask and leave by themselves
    if (made.what == "lock.acquire" && played.made.what == "wait")
        advance(std::max(duration{server_.command({"PTTL", made.keys[0]}).integer + 5}, tick));
    const std::optional<redis::reply> answer =
        us != nullptr ? us->run(made) : redisson_.run(with_our_owners(made));
    if (answer && is_acquire(made) && is_of_a_fair_lock(made)) { // the rest depends on who waits
        EXPECT_EQ(made.answer && made.answer->is_null(), answer->type == redis::reply::kind::nil);
    } else if (answer && made.answer && !is_mistaken(made, played) && !is_of_nothing(made)) {
        EXPECT_TRUE(is_as_recorded(*made.answer, *answer))
            << made.by << ' ' << made.what << " was answered " << *made.answer << ", now "
            << static_cast<int>(answer->type) << ' ' << answer->integer << ' ' << answer->text;
    }
    settle();
}

/// Lets time pass while a call of holdfast that should end in this step has not ended.
void player::wait_for_ends(const step& played) {
    const bool at_once =
        played.asks_for_a_lock() && !played.pending && !played.is_refused_reentry();
    std::size_t expected = at_once && one_of_us(played.made.by) != nullptr ? 1 : 0;
    for (const call& each : played.ended)
        expected += one_of_us(each.by) != nullptr ? 1 : 0;
    settle();
    for (duration waited{}; ended_.size() < expected && waited < longest_wait; waited += tick)
        advance(tick);
}

void player::compare_ends(const step& played, const std::vector<client::outcome>& ended) {
    std::vector<call> expected, earlier;
    for (const call& each : played.ended)
        if (one_of_us(each.by) != nullptr)
            expected.push_back(each);
    for (const client::outcome& each : ended) {
        if (each.made == played.made) {
            EXPECT_EQ(each.granted, was_granted(played));
            if (each.token != 0 && played.result->is_int64()) { // of the calls that tell it
                const auto token = static_cast<std::int64_t>(each.token);
                EXPECT_EQ(token + tokens_saved(), played.result->as_int64());
            }
        } else {
            earlier.push_back(each.made);
        }
    }
    const auto by_thread = [](const call& a, const call& b) { return a.thread < b.thread; };
    std::ranges::sort(expected, by_thread);
    std::ranges::sort(earlier, by_thread);
    EXPECT_TRUE(earlier == expected) << earlier.size() << " calls ended, not " << expected.size();
}

void player::compare_state(const step& played) {
    state_ = played.state.value_or(state_);
    std::set<std::string> expected;
    for (const auto& [name, key] : state_)
        if (!std::string_view{name}.starts_with("redisson_unlock_latch")) // ours need none
            expected.insert(name);
    std::set<std::string> found;
    for (const redis::reply& each : server_.command({"KEYS", "*"}).items)
        if (!std::string_view{each.text}.ends_with(":waiters")) // of a spin lock: ours alone
            found.insert(each.text);
    EXPECT_EQ(found, expected);
    for (const std::string& name : expected) {
        const json::object& recorded = state_.at(name).as_object();
        const json::string& type = recorded.at("type").as_string();
        EXPECT_EQ(server_.command({"TYPE", name}).text, type);
        if (type == "string")
            compare_tokens(name, recorded);
        else if (type == "list")
            compare_queue(name, recorded);
        else if (type == "zset")
            compare_deadlines(name, recorded);
        else
            compare_holds(name, recorded, played.state.has_value());
    }
}

void player::compare_queue(const std::string& name, const json::object& recorded) {
    std::vector<std::string> expected, found;
    for (const json::value& owner : recorded.at("value").as_array())
        expected.push_back(with_our_owners(std::string{owner.as_string()}));
    for (const redis::reply& owner : server_.command({"LRANGE", name, "0", "-1"}).items)
        found.push_back(owner.text);
    EXPECT_EQ(found, expected);
}

/// A JVM's deadlines are those of the recording, if nobody of ours is there; a replay makes no
/// pauses. Ours: no longer than a place lasts behind so many JVMs, one of which may have gone
/// since.
void player::compare_deadlines(const std::string& name, const json::object& recorded) {
    constexpr std::int64_t tolerance = 4'000, jvm_waits = 300'000;
    const redis::reply time = server_.command({"TIME"});
    const std::int64_t now =
        std::stoll(time.items[0].text) * 1000 + std::stoll(time.items[1].text) / 1000;
    std::int64_t jvms = 1;
    for (const json::value& entry : recorded.at("value").as_array()) {
        const std::string owner{entry.as_array().at(0).as_string()};
        const std::string field = with_our_owners(owner);
        const std::string score = server_.command({"ZSCORE", name, field}).text;
        ASSERT_FALSE(score.empty()) << owner;
        const auto left = static_cast<std::int64_t>(std::stod(score)) - now;
        const std::string said{entry.as_array().at(1).as_string()};
        const std::int64_t recorded_left = std::atoll(said.c_str() + std::string{"NOW+"}.size());
        if (field != owner)
            EXPECT_THAT(left, ::testing::AllOf(::testing::Gt(0),
                                               ::testing::Le(client::place_outlasts.count() +
                                                             jvms * jvm_waits + tolerance)));
        else if (ours_.empty())
            EXPECT_NEAR(left, recorded_left, tolerance);
        else
            EXPECT_GT(left, 0);
        jvms += field == owner ? 1 : 0;
    }
}

void player::compare_holds(const std::string& name, const json::object& recorded, bool is_new) {
    const json::object& owners = recorded.at("value").as_object();
    EXPECT_EQ(server_.command({"HLEN", name}).integer, static_cast<std::int64_t>(owners.size()));
    const std::int64_t left = server_.command({"PTTL", name}).integer;
    for (const auto& [owner, count] : owners) {
        client* us = one_of_us(std::string{owner.substr(0, owner.find(':'))});
        const std::string field = us != nullptr ? us->owner_text(owner) : std::string{owner};
        EXPECT_EQ(server_.command({"HGET", name, field}).text,
                  us != nullptr ? "1" : std::string{count.as_string()});
        const json::value& range = recorded.at("pttl_ms");
        const auto longest = us != nullptr ? us->longest_lease(name, owner) : std::nullopt;
        if (longest) {
            EXPECT_THAT(left, ::testing::AllOf(::testing::Gt(0), ::testing::Le(longest->count())));
        } else if (range.is_array()) {
            EXPECT_LE(left, range.as_array()[1].as_int64());
            const std::int64_t least = range.as_array()[0].as_int64();
            EXPECT_GE(left, is_new ? least - slowness(name, least) : 1);
        } else {
            EXPECT_EQ(left, range.as_int64());
        }
    }
}

/// What a busy machine takes off a lease while the server's clock should stand still. And ours
/// gives up in time at a fair lock, and not early.
std::int64_t player::slowness(const std::string& name, std::int64_t recorded_least) {
    prolonged& last = prolonged_[name];
    if (recorded_least > last.least)
        last.at = step_began_;
    last.least = recorded_least;
    const auto lasted = std::chrono::steady_clock::now() - last.at;
    return std::chrono::ceil<duration>(lasted).count() + (is_fair_ ? 500 : 0);
}

void player::compare_tokens(const std::string& name, const json::object& recorded) {
    const std::int64_t last = std::stoll(server_.command({"GET", name}).text);
    EXPECT_EQ(std::to_string(last + tokens_saved()), recorded.at("value").as_string());
    EXPECT_EQ(server_.command({"PTTL", name}).integer, recorded.at("pttl_ms").as_int64());
}

/// Whoever forces a spin lock with us wakes the waiters of other locks of that name.
std::vector<support::message> player::expected_messages(const step& played) {
    std::vector<support::message> all = played.messages;
    for (const command& each : played.commands)
        if (each.what == "spin.force-unlock" && *each.answer == json::value(1) &&
            one_of_us(each.by) != nullptr)
            all.push_back({"redisson_lock__channel:{" + each.keys.at(0) + "}", "0"});
    return all;
}

std::int64_t player::tokens_saved() const {
    std::int64_t all = 0;
    for (const auto& each : ours_)
        all += each->tokens_saved();
    return all;
}

/// Returns the text with the owner that our client has on the wire.
std::string player::with_our_owners(std::string text) const {
    for (const auto& each : ours_) {
        const std::size_t place = text.find(each->label() + ':');
        if (place != std::string::npos)
            text.replace(place, text.npos, each->owner_text(text.substr(place)));
    }
    return text;
}

command player::with_our_owners(command made) const {
    for (std::string& word : made.words)
        word = with_our_owners(std::move(word));
    return made;
}

client* player::one_of_us(const std::string& by) {
    const auto found = std::ranges::find(ours_, by, &client::label);
    return found == ours_.end() ? nullptr : found->get();
}

void player::advance(duration length) {
    if (length > duration::zero())
        server_.step_clock(length);
    for (const auto& each : ours_)
        each->advance(length);
    settle();
}

void player::settle() {
    for (const auto& each : ours_) {
        each->settle();
        for (client::outcome& one : each->take_ended())
            ended_.push_back(std::move(one));
    }
}

} // namespace holdfast::trace
