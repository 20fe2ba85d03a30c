// SPDX-License-Identifier: Apache-2.0
#include "sim/trace.hpp"

#include "sim/world.hpp"

#include <array>
#include <charconv>
#include <cstdio>
#include <limits>
#include <ostream>
#include <string>
#include <unordered_set>

namespace holdfast::sim {
namespace {

constexpr std::uint64_t fnv_prime = 0x100000001b3;

void absorb(std::uint64_t& hash, std::uint64_t word) {
    hash = (hash ^ word) * fnv_prime;
    hash ^= hash >> 29;
}

std::string number(std::int64_t n) {
    const bool endless = n >= std::numeric_limits<duration::rep>::max() / 2;
    return endless ? "endless" : std::to_string(n);
}

std::string filled_in(const char* what, std::int64_t a, std::int64_t b) {
    std::string text = what;
    for (const std::int64_t value : {a, b}) {
        const std::size_t gap = text.find("{}");
        if (gap == std::string::npos)
            break;
        text.replace(gap, 2, number(value));
    }
    return text;
}

} // namespace

void trace::note(subject who, const char* what, std::int64_t a, std::int64_t b) {
    lines_.push_back({time_.now(), who, what, a, b});
}

std::uint64_t trace::hash() const {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const line& l : lines_) {
        absorb(hash, static_cast<std::uint64_t>(l.at.time_since_epoch().count()));
        absorb(hash,
               static_cast<std::uint64_t>(l.who.client * 10007 + l.who.actor * 101 + l.who.name));
        if (l.who.server >= 0)
            absorb(hash, static_cast<std::uint64_t>(l.who.server));
        for (const char* c = l.what; *c != '\0'; ++c)
            absorb(hash, static_cast<unsigned char>(*c));
        absorb(hash, static_cast<std::uint64_t>(l.a));
        absorb(hash, static_cast<std::uint64_t>(l.b));
    }
    return hash;
}

void trace::print(std::ostream& out, const line& l) const {
    std::string who = l.who.client < 0 ? "server" : "client" + std::to_string(l.who.client);
    if (l.who.client >= 0 && l.who.actor >= 0)
        who += "." + std::to_string(l.who.actor);
    std::string name = l.who.name < 0 ? "" : "lock" + std::to_string(l.who.name);
    if (l.who.server >= 0)
        name += "@" + std::to_string(l.who.server);
    std::array<char, 64> head{};
    const auto ms = static_cast<long long>((l.at - start_).count());
    std::snprintf(head.data(), head.size(), "%6lld.%03lld  %-9s %-6s ", ms / 1000, ms % 1000,
                  who.c_str(), name.c_str());
    out << head.data() << filled_in(l.what, l.a, l.b) << '\n';
}

std::set<std::string_view> trace::kinds() const {
    std::unordered_set<const char*> literals;
    for (const line& l : lines_)
        literals.insert(l.what);
    return {literals.begin(), literals.end()};
}

bool trace::is_about(const line& l, int name) {
    return name < 0 || l.who.name < 0 || l.who.name == name;
}

void trace::print(std::ostream& out, int only_name) const {
    print_end(out, only_name, lines_.size());
}

void trace::print_end(std::ostream& out, int only_name, std::size_t lines) const {
    auto first = lines_.rbegin();
    for (std::size_t found = 0; first != lines_.rend() && found < lines; ++first)
        found += is_about(*first, only_name) ? 1 : 0;
    if (first != lines_.rend())
        out << "  (what came before is shown with --trace)\n";
    for (auto l = first.base(); l != lines_.end(); ++l)
        if (is_about(*l, only_name))
            print(out, *l);
}

namespace {

using memory::verb;

const char* sending(verb what) {
    constexpr std::array words{"sends look, owner {}, for {} ms",
                               "sends renew, owner {}, for {} ms",
                               "sends release, owner {}",
                               "sends inspect",
                               "sends force",
                               "sends count, request {}",
                               "sends change, request {}"};

    return words.at(static_cast<std::size_t>(what));
}

const char* reported(event_kind kind) {
    switch (kind) {
    case event_kind::acquired:
        return "reports: acquired by owner {}";
    case event_kind::waited:
        return "reports: waited in vain";
    case event_kind::released:
        return "reports: released by owner {}";
    case event_kind::lost:
        return "reports: lost by owner {}";
    case event_kind::in_danger:
        return "reports: owner {} is in danger";
    case event_kind::renewal_failed:
        return "reports: a renewal of owner {} failed";
    case event_kind::release_failed:
        return "reports: the release of owner {} was given up";
    case event_kind::moved:
        return "reports: it asks another primary";
    case event_kind::waiting:
        return "reports: a call begins to wait";
    case event_kind::joined:
        return "reports: a call shares the hold of owner {}";
    default:
        return "reports something else about owner {}";
    }
}

/// Returns a number that identifies the request in the trace: its own number, or its owner's.
std::int64_t number_of(const memory::request& r) {
    const memory::sent_request& sent = details_of(r);
    const std::uint64_t number = sent.counted       ? sent.counted->request.number
                                 : sent.changed     ? sent.changed->request.number
                                 : !r.holds.empty() ? r.holds[0].owner.number
                                                    : 0;
    return static_cast<std::int64_t>(number);
}

std::int64_t number_in(std::string_view owner) {
    std::int64_t number = 0;
    const std::size_t colon = owner.rfind(':');
    if (colon != std::string_view::npos)
        std::from_chars(owner.data() + colon + 1, owner.data() + owner.size(), number);
    return number;
}

} // namespace

void telling::notify(const event& e) noexcept {
    const bool is_about_lock = e.name_size > 0 && e.kind != event_kind::moved;
    const int name = is_about_lock ? world::number_of({e.name, e.name_size}) : -1;
    log_.note({.client = client_, .name = name}, reported(e.kind),
              static_cast<std::int64_t>(e.owner_number));
    heard_(e);
}

void tell_of_request(trace& log, subject from, const memory::request& r, const memory::fate& f,
                     bool troubled) {
    const auto about = [from](std::string_view name) {
        return subject{from.client, from.actor, world::number_of(name), from.server};
    };
    const subject who = about(r.name);
    log.note(who, sending(r.what), number_of(r), r.lease_time.count());
    for (std::size_t i = 1; i < r.holds.size(); ++i)
        log.note(about(r.holds[i].name.text), "  and with it owner {}",
                 static_cast<std::int64_t>(r.holds[i].owner.number));
    if (f.refused)
        log.note(who, "  FAULT: it is never sent");
    else if (f.overloaded)
        log.note(who, "  FAULT: there is no room for it");
    else if (f.request_lost)
        log.note(who, "  FAULT: the request is lost");
    else if (f.cut_off)
        log.note(who, "  FAULT: the connection breaks after {} ms; executed after {} ms",
                 *f.cut_off, f.request_delay);
    else if (f.answer_lost)
        log.note(who, "  FAULT: the answer is lost; executed after {} ms", f.request_delay);
    else if (troubled)
        log.note(who, "  FAULT: takes {} ms there and {} ms back", f.request_delay, f.answer_delay);
    if (f.denied)
        log.note(who, "  FAULT: it is not allowed");
    for (const std::size_t place : f.denied_holds)
        log.note(about(r.holds[place].name.text), "  FAULT: the renewal of owner {} is not allowed",
                 static_cast<std::int64_t>(r.holds[place].owner.number));
    if (details_of(r).elsewhere)
        log.note(who, "  over another connection");
    if (f.executed_again)
        log.note(who, "  FAULT: executed again {} ms later", *f.executed_again);
    if (f.wake_up_lost)
        log.note(who, "  FAULT: the next wake-up will be lost");
}

void tell_of_holder(trace& log, subject lock, int client, const sighting& now) {
    if (now.owner.empty())
        log.note(lock, "is free");
    else if (client < 0)
        log.note(lock, "is held by a foreigner for {} ms", now.remaining);
    else
        log.note(lock, "is held by client{} under number {}", client, number_in(now.owner));
}

} // namespace holdfast::sim
