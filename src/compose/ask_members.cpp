// SPDX-License-Identifier: Apache-2.0
#include "compose/ask_members.hpp"

#include "sync/worded_error.hpp"

#include <algorithm>
#include <string>

namespace holdfast::compose {
namespace {

template <typename T>
[[noreturn]] void throw_first(const joint_subject& of, const std::vector<reply_of<T>>& all) {
    for (std::size_t which = 0; which < all.size(); ++which)
        if (all[which].why.code) {
            std::string text = "member " + std::to_string(which + 1) + " of " +
                               std::to_string(all.size()) + " (" + of.members[which]->name.text +
                               "): " + all[which].why.text;
            throw sync::worded_error{{all[which].why.code, std::move(text)}};
        }
    throw sync::worded_error{{make_error_code(errc::unreachable), "no member answered"}};
}

template <typename T>
std::size_t failed(const std::vector<reply_of<T>>& all) {
    return static_cast<std::size_t>(
        std::count_if(all.begin(), all.end(), [](const auto& each) { return each.why.code; }));
}

/// Returns how many members must be held to prevent another caller from getting `needs` members.
std::size_t blocking(const joint_subject& of) {
    return of.members.size() - of.needs + 1;
}

} // namespace

std::optional<holding> as_one(const joint_subject& of,
                              std::vector<reply_of<std::optional<holding>>> all) {
    holding found;
    std::vector<duration> lengths;
    for (const auto& each : all) {
        if (!each.value || !*each.value)
            continue;
        const holding& one = **each.value;
        lengths.push_back(one.remaining.value_or(duration::max()));
        found.shared = found.shared || one.shared;
        found.owners.insert(found.owners.end(), one.owners.begin(), one.owners.end());
    }
    if (lengths.size() < blocking(of)) {
        if (lengths.size() + failed(all) >= blocking(of))
            throw_first(of, all);
        return std::nullopt;
    }
    std::sort(lengths.rbegin(), lengths.rend());
    const duration until = lengths[blocking(of) - 1];
    if (until != duration::max())
        found.remaining = until;
    return found;
}

bool is_decided(const joint_subject& of, const std::vector<reply_of<std::optional<holding>>>& all) {
    const auto is_held = [](const auto& each) { return each.value && *each.value; };
    const auto held = static_cast<std::size_t>(std::count_if(all.begin(), all.end(), is_held));
    return held >= blocking(of) || held + failed(all) < blocking(of);
}

bool is_decided(const joint_subject& of, const std::vector<reply_of<bool>>& all) {
    return failed(all) <= of.members.size() - of.needs;
}

bool any_of(const joint_subject& of, const std::vector<reply_of<bool>>& all) {
    const bool some =
        std::any_of(all.begin(), all.end(), [](const auto& each) { return each.value == true; });
    if (failed(all) > of.members.size() - of.needs)
        throw_first(of, all);
    return some;
}

} // namespace holdfast::compose
