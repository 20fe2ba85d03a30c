// SPDX-License-Identifier: Apache-2.0
#include "url/length.hpp"

#include "refusal.hpp"

#include <charconv>
#include <utility>

namespace holdfast::url {
namespace {

constexpr std::pair<std::string_view, duration> units[] = {
    {"ms", std::chrono::milliseconds{1}},
    {"s", std::chrono::seconds{1}},
    {"m", std::chrono::minutes{1}},
    {"h", std::chrono::hours{1}},
};

constexpr const char* allowed =
    "; a length of time is a whole number and ms, s, m or h, as in 500ms";

length no_length(std::string why) {
    return {.objection = std::move(why) + allowed};
}

} // namespace

length read_length(std::string_view text) {
    std::int64_t count = 0;
    const char* const end = text.data() + text.size();
    const auto [behind, failed] = std::from_chars(text.data(), end, count);
    if (failed == std::errc::result_out_of_range)
        return no_length("is too large");
    if (failed != std::errc{} || count < 0)
        return no_length("does not begin with a number");
    const std::string_view unit{behind, static_cast<std::size_t>(end - behind)};
    if (unit.empty())
        return no_length("has no unit");
    for (const auto& [name, one] : units)
        if (unit == name)
            return count > duration::max() / one ? no_length("is too large")
                                                 : length{.value = count * one};
    return no_length("has a unit " + in_quotes(unit) + " that is none");
}

} // namespace holdfast::url
