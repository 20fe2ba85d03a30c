// SPDX-License-Identifier: Apache-2.0
#include "sim/telling.hpp"

#include "sim/world.hpp"

#include <array>
#include <charconv>
#include <string_view>

namespace holdfast::sim {
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
    default:
        return "reports something else about owner {}";
    }
}

/// Returns the first number in the request: an owner's number or the request's own number.
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
