// SPDX-License-Identifier: Apache-2.0
#include "zookeeper/survey.hpp"

#include <charconv>
#include <optional>
#include <string>

namespace holdfast::zookeeper {
namespace {

constexpr std::string_view serves_nobody = "not currently serving requests";

/// Returns the text after `name` up to the first character of `ends`. `name` must be at the
/// beginning of a line.
std::string_view field(std::string_view text, std::string_view name, std::string_view ends) {
    for (std::size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
        if (at != 0 && text[at - 1] != '\n')
            continue;
        const std::string_view rest = text.substr(at + name.size());
        return rest.substr(0, rest.find_first_of(ends));
    }
    return {};
}

std::optional<std::int64_t> hexadecimal(std::string_view text) {
    std::int64_t number = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
    return failed == std::errc{} ? std::optional{number} : std::nullopt;
}

} // namespace

void read_facts(std::string_view answer, server_seen& to) {
    if (answer.find(serves_nobody) != answer.npos) {
        to.trouble = "it serves nobody now: it belongs to no majority of the ensemble";
        return;
    }
    to.role = field(answer, "Mode: ", "\r\n");
    to.version = field(answer, "Zookeeper version: ", "-, \r\n");
    if (const auto last = hexadecimal(field(answer, "Zxid: 0x", "\r\n")))
        to.epoch = *last >> 32;
}

} // namespace holdfast::zookeeper
