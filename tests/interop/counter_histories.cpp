// SPDX-License-Identifier: Apache-2.0
#include "interop/counter_histories.hpp"

#include <algorithm>
#include <ranges>
#include <span>

namespace holdfast::interop {
namespace {

constexpr moment not_known = moment::max();

/// A latch that was set is shut for sure from when its setter was told until the last count-down
/// may have been asked for; and open for sure from when the last one was told until somebody may
/// have set it anew. In between nobody knows.
struct round {
    const deed* set;
    moment opens_first = not_known, opens_last = not_known, ends = not_known;

    bool is_shut_during(const deed& one) const {
        return one.asked > set->told && one.told < opens_first;
    }
};

/// Those of one kind of one latch, the first first; and how long one takes at most.
struct series {
    std::vector<const deed*> all{};
    moment longest{0};

    /// The changes that may have happened between these two times.
    std::span<const deed* const> between(moment start, moment end = not_known) const {
        const auto asked = [](const deed* each) { return each->asked; };
        const auto first = std::ranges::lower_bound(all, start - longest, {}, asked);
        return {first, std::ranges::lower_bound(first, all.end(), end, {}, asked)};
    }
};

struct latch_history {
    series sets{}, count_downs{}, waits{};

    explicit latch_history(const std::vector<const deed*>& of) {
        const auto take = [&](series& into, deed::kind what) {
            for (const deed* each : of)
                if (each->what == what) {
                    into.all.push_back(each);
                    into.longest = std::max(into.longest, each->told - each->asked);
                }
            std::ranges::sort(into.all, {}, [](const deed* each) { return each->asked; });
        };
        take(sets, deed::kind::set);
        take(count_downs, deed::kind::count_down);
        take(waits, deed::kind::wait);
    }

    std::vector<round> rounds() const {
        std::vector<round> all;
        for (const deed* set : sets.all)
            if (set->how == deed::outcome::done)
                all.push_back({set, first_opening(*set), last_opening(*set), next_set(*set)});
        return all;
    }

private:
    /// All count that may have come after it was set, each as early as can be.
    moment first_opening(const deed& set) const {
        std::int64_t left = set.amount;
        for (const deed* each : count_downs.between(set.asked))
            if (each->told >= set.asked && --left == 0)
                return std::max(each->asked, set.asked);
        return not_known;
    }
    /// Those alone count that certainly came after, each as late as can be.
    moment last_opening(const deed& set) const {
        std::vector<moment> told;
        for (const deed* each : count_downs.between(set.told)) {
            if (each->asked < set.told || each->how != deed::outcome::done)
                continue;
            // Whoever asks later than the last one needed was told cannot be of them.
            const auto enough = static_cast<std::size_t>(set.amount);
            if (told.size() >= enough && each->asked > told[enough - 1])
                break;
            told.insert(std::ranges::upper_bound(told, each->told), each->told);
        }
        return told.size() < static_cast<std::size_t>(set.amount)
                   ? not_known
                   : told[static_cast<std::size_t>(set.amount) - 1];
    }
    moment next_set(const deed& set) const {
        for (const deed* each : sets.between(set.asked))
            if (each != &set && each->how != deed::outcome::denied && each->told > set.asked)
                return each->asked;
        return not_known;
    }
};

std::map<std::string, latch_history> by_latch(const std::vector<deed>& all) {
    std::map<std::string, std::vector<const deed*>> found;
    for (const deed& each : all)
        if (each.what != deed::kind::draw)
            found[each.name].push_back(&each);
    std::map<std::string, latch_history> latches;
    for (const auto& [name, deeds] : found)
        latches.emplace(name, deeds);
    return latches;
}

std::string words(const deed& who, const std::string& what, const deed& set) {
    return who.worker + " " + what + " " + who.name + " between " +
           std::to_string(who.asked.count()) + " and " + std::to_string(who.told.count()) + "; " +
           set.worker + " had set it to " + std::to_string(set.amount) + " by " +
           std::to_string(set.told.count());
}

} // namespace

std::vector<std::string> wrong_openings(const std::vector<deed>& all) {
    std::vector<std::string> found;
    for (const auto& [name, latch] : by_latch(all))
        for (const round& each : latch.rounds()) {
            for (const deed* wait : latch.waits.between(each.set->told, each.opens_first))
                if (wait->how == deed::outcome::done && each.is_shut_during(*wait))
                    found.push_back(words(*wait, "was let through early at", *each.set));
            const moment known_until = std::max(each.opens_first, each.ends);
            for (const deed* set : latch.sets.between(each.set->told, known_until)) {
                if (set->how == deed::outcome::done && each.is_shut_during(*set))
                    found.push_back(words(*set, "set, though it was shut,", *each.set));
                if (set->how == deed::outcome::denied && set->asked > each.opens_last &&
                    set->told < each.ends)
                    found.push_back(words(*set, "could not set, though it was open,", *each.set));
            }
        }
    return found;
}

std::vector<std::string> forgotten_at_latches(const std::vector<deed>& all, moment timeout) {
    std::vector<std::string> found;
    for (const auto& [name, latch] : by_latch(all))
        for (const round& each : latch.rounds())
            for (const deed* wait : latch.waits.between(each.opens_last, each.ends)) {
                const moment from = std::max(wait->asked, each.opens_last);
                if (std::min(wait->told, each.ends) - from > timeout)
                    found.push_back(words(*wait, "waited on at", *each.set) +
                                    ", and it was open at " +
                                    std::to_string(each.opens_last.count()));
            }
    return found;
}

std::size_t long_openings(const std::vector<deed>& all, moment length) {
    std::size_t count = 0;
    for (const auto& [name, latch] : by_latch(all))
        for (const round& each : latch.rounds())
            count += each.opens_last != not_known && each.ends - each.opens_last > length ? 1 : 0;
    return count;
}

namespace {

/// Clocks of one machine may differ by so much in one interval, and draws are dated in whole ms.
constexpr std::chrono::milliseconds clocks_differ{5};

/// Far shorter than an interval of a stress, and no load for a server.
constexpr std::chrono::milliseconds between_looks{50};

} // namespace

std::int64_t permits_in(const std::string& draw) {
    std::int64_t count = 0;
    for (std::size_t i = 1; i <= 4; ++i)
        count = count << 8 | static_cast<std::uint8_t>(draw.at(draw.size() - i));
    return count;
}

std::vector<std::string> drawn_too_fast(const std::vector<deed>& all, limit how) {
    std::map<std::string, std::vector<const deed*>> draws;
    for (const deed& each : all)
        if (each.what == deed::kind::draw && each.how == deed::outcome::done)
            draws[each.name].push_back(&each);
    std::vector<std::string> found;
    for (auto& [name, of_name] : draws) {
        std::ranges::sort(of_name, {}, [](const deed* each) { return each->asked; });
        for (auto first = of_name.begin(); first != of_name.end(); ++first) {
            const moment end = (*first)->asked + how.interval - clocks_differ;
            std::int64_t sum = 0;
            for (auto each = first; each != of_name.end() && (*each)->asked < end; ++each)
                sum += (*each)->told < end ? (*each)->amount : 0;
            if (sum > how.permits)
                found.push_back(std::to_string(sum) + " permits of " + name +
                                " were drawn within an interval from " +
                                std::to_string((*first)->asked.count()) + " on");
        }
    }
    return found;
}

void window::saw(duration now, const std::map<std::string, duration>& draws) {
    if (last_look_ > duration::zero())
        blind_ = std::max(blind_, now - last_look_);
    last_look_ = now;
    for (const auto& [member, at] : draws)
        if (known_.emplace(member, at).second)
            drawn_ += permits_in(member);
    std::int64_t sum = 0;
    for (auto each = known_.begin(); each != known_.end();) {
        const auto& [member, at] = *each;
        const std::int64_t permits = permits_in(member);
        const bool is_there = draws.contains(member);
        if (is_there && counts(at, now))
            sum += permits;
        if (!is_there && counts(at, now)) { // before its time
            drawn_ -= permits;
            given_back_ += permits;
        }
        each = is_there ? std::next(each) : known_.erase(each);
    }
    most_ = std::max(most_, sum);
    if (sum > how_.permits)
        troubles_.push_back(std::to_string(sum) + " permits of " + name_ +
                            " were drawn in the interval before " + std::to_string(now.count()));
}

rate_watch::rate_watch(support::redis_server& server, const std::vector<std::string>& names,
                       limit how)
    : connection_{server.socket_path()} {
    for (const std::string& name : names)
        windows_.emplace(name, window{name, how});
    look();
    thread_ = std::jthread{[this](const std::stop_token& over) { watch(over); }};
}

std::map<std::string, window> rate_watch::stop() {
    thread_.request_stop();
    thread_.join();
    look();
    connection_.reset();
    return std::move(windows_);
}

void rate_watch::watch(const std::stop_token& over) {
    while (!over.stop_requested()) {
        std::this_thread::sleep_for(between_looks); // this is how often it looks, not a wait
        look();
    }
}

void rate_watch::look() {
    // A script runs atomically, so it happens at one moment.
    constexpr const char* script =
        "return {redis.call('TIME'), redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')}";
    for (auto& [name, seen] : windows_) {
        const redis::reply answer =
            connection_->command({"EVAL", script, "1", "{" + name + "}:permits"});
        const redis::reply& time = answer.items.at(0);
        const std::chrono::microseconds now =
            std::chrono::seconds{std::stoll(time.items.at(0).text)} +
            std::chrono::microseconds{std::stoll(time.items.at(1).text)};
        std::map<std::string, duration> draws;
        const std::vector<redis::reply>& items = answer.items.at(1).items;
        for (std::size_t i = 0; i + 1 < items.size(); i += 2)
            draws[items[i].text] = duration{std::stoll(items[i + 1].text)};
        seen.saw(std::chrono::duration_cast<duration>(now), draws);
    }
}

} // namespace holdfast::interop
