// SPDX-License-Identifier: Apache-2.0
#include "cli/count/counter_words.hpp"

#include "cli/text/how_many.hpp"

#include <chrono>
#include <utility>

namespace cli {
namespace {

using holdfast::counter_kind;
using holdfast::duration;

constexpr std::pair<const char*, counter_kind> types[] = {{"semaphore", counter_kind::semaphore},
                                                          {"permits", counter_kind::permits},
                                                          {"latch", counter_kind::latch},
                                                          {"rate", counter_kind::rate}};

/// Formats a duration in the largest unit that divides it without remainder. So different durations
/// never look equal.
std::string exactly(duration length) {
    const std::pair<duration, const char*> units[] = {{std::chrono::hours{1}, "h"},
                                                      {std::chrono::minutes{1}, "m"},
                                                      {std::chrono::seconds{1}, "s"}};
    for (const auto& [one, name] : units)
        if (length % one == duration::zero())
            return std::to_string(length / one) + name;
    return std::to_string(length.count()) + "ms";
}

bool is_for_each(const holdfast::rate& how) {
    return how.scope == holdfast::rate::scope_of::per_client;
}

boost::json::object rate_in_json(const holdfast::rate& how) {
    return {{"permits", how.permits},
            {"per_ms", how.per.count()},
            {"per_client", is_for_each(how)},
            {"kept_ms", how.kept.count()}};
}

} // namespace

std::optional<counter_kind> counter_type(std::string_view word) {
    for (const auto& [name, kind] : types)
        if (word == name)
            return kind;
    return std::nullopt;
}

std::string word_of(counter_kind wanted) {
    for (const auto& [name, kind] : types)
        if (kind == wanted)
            return name;
    return {};
}

std::string counter_types() {
    return "semaphore, permits, latch or rate";
}

std::string rate_in_words(const holdfast::rate& how, const std::string& noun) {
    return how_many(how.permits, noun) + " in any " + exactly(how.per) +
           (is_for_each(how) ? " for each client" : "") +
           (how.kept > duration::zero() ? ", forgotten after " + exactly(how.kept) : "");
}

std::string state_in_words(counter_kind kind, const holdfast::counter_state& found) {
    if (kind == counter_kind::latch)
        return std::to_string(found.value) + " to go";
    if (kind == counter_kind::rate)
        return std::to_string(found.value) + " left of " + rate_in_words(found.of, "permit");
    const std::string held =
        kind == counter_kind::permits ? ", " + std::to_string(found.taken) + " held" : "";
    return how_many(found.value, "permit") + held;
}

std::string listeners_in_words(counter_kind kind, const holdfast::counter_state& found) {
    if (found.listeners)
        return std::to_string(*found.listeners);
    return kind == counter_kind::rate ? "-" : "?";
}

void add_to_json(boost::json::object& told, counter_kind kind,
                 const holdfast::counter_state& found) {
    told["kind"] = word_of(kind);
    told["exists"] = found.exists;
    told["count"] = found.value;
    if (kind == counter_kind::permits)
        told["held"] = found.taken;
    if (kind == counter_kind::rate)
        told["rate"] = found.exists ? boost::json::value(rate_in_json(found.of)) : nullptr;
    told["listeners"] =
        found.listeners ? boost::json::value(*found.listeners) : boost::json::value(nullptr);
}

} // namespace cli
