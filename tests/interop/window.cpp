// SPDX-License-Identifier: Apache-2.0
#include "interop/window.hpp"

#include <algorithm>

namespace holdfast::interop {
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
    // One moment: a script has the server for itself.
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
