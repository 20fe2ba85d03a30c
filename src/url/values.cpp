// SPDX-License-Identifier: Apache-2.0
// Reads parameter values: converts text to the type of a field.
#include "url/length.hpp"
#include "url/parts.hpp"
#include "url/tls_files.hpp"

#include <holdfast/schemes.hpp>

#include <algorithm>
#include <charconv>

namespace holdfast {
namespace {

std::string listed(const std::vector<std::string_view>& words) {
    std::string all;
    for (std::size_t i = 0; i < words.size(); ++i)
        all.append(i == 0 ? "" : i + 1 < words.size() ? ", " : " and ").append(words[i]);
    return all;
}

} // namespace

void store_url::read(std::string_view name, std::string& into) {
    if (const auto text = given(name))
        into = *text;
}

void store_url::read(std::string_view name, secret& into) {
    if (const auto text = given(name))
        into = *text;
}

void store_url::read(std::string_view name, bool& into) {
    const auto text = given(name);
    if (text && *text != "yes" && *text != "no")
        refuse(std::string{name} + " " + shown(*text) + " is neither yes nor no");
    if (text)
        into = *text == "yes";
}

void store_url::read(std::string_view name, duration& into) {
    const auto text = given(name);
    if (!text)
        return;
    const url::length length = url::read_length(*text);
    if (!length.objection.empty())
        refuse(std::string{name} + " " + shown(*text) + " " +
               (inside().may_show ? length.objection : "is no length of time"));
    into = length.value;
}

void store_url::read(std::string_view name, std::optional<duration>& into) {
    duration length{};
    read(name, length);
    if (given(name))
        into = length;
}

std::optional<std::uint64_t> store_url::count_of(std::string_view name, std::uint64_t most) {
    const auto text = given(name);
    if (!text)
        return std::nullopt;
    // 32 bits are enough for every limit.
    most = std::min<std::uint64_t>(most, std::numeric_limits<std::uint32_t>::max());
    std::uint64_t number = 0;
    const char* const end = text->data() + text->size();
    const auto [behind, failed] = std::from_chars(text->data(), end, number);
    if (failed != std::errc{} || behind != end || number > most)
        refuse(std::string{name} + " " + shown(*text) + " is not a whole number" +
               (failed == std::errc{} && behind == end ? " up to " + std::to_string(most) : "") +
               ", as in 100");
    return number;
}

std::optional<std::size_t> store_url::which_of(std::string_view name,
                                               const std::vector<std::string_view>& allowed) {
    const auto text = given(name);
    if (!text)
        return std::nullopt;
    const auto found = std::ranges::find(allowed, *text);
    if (found == allowed.end())
        refuse(std::string{name} + " " + shown(*text) + " is none of " + listed(allowed));
    return static_cast<std::size_t>(found - allowed.begin());
}

void store_url::read_tls(std::optional<tls_options>& into) {
    bool wanted = into.has_value();
    read("tls", wanted);
    if (!wanted)
        into.reset();
    else if (!into)
        into.emplace();
    url::read_tls_files(*this, into, "needs tls=yes beside it; without that nothing is protected");
}

} // namespace holdfast
