// SPDX-License-Identifier: Apache-2.0
#include "store/mysql/who.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <vector>

namespace holdfast::mysql {
namespace {

/// Maximum length of each text in the description, in bytes. Three texts, two numbers and the tabs
/// must fit into the column `info`.
constexpr std::size_t word_bytes_max = 64;

constexpr std::size_t uuid_size = 36;
constexpr std::size_t mark_at = 14;
constexpr std::string_view mark_of_ours = "8fd5";

std::string word(std::string_view text) {
    std::string fits{text.substr(0, word_bytes_max)};
    std::ranges::replace(fits, '\t', ' ');
    return fits;
}

std::vector<std::string_view> words_of(std::string_view info) {
    std::vector<std::string_view> words;
    for (std::size_t tab = info.find('\t'); tab != info.npos; tab = info.find('\t')) {
        words.push_back(info.substr(0, tab));
        info.remove_prefix(tab + 1);
    }
    words.push_back(info);
    return words;
}

std::optional<std::int64_t> number_in(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (ec != std::errc{} || end != text.data() + text.size())
        return std::nullopt;
    return value;
}

} // namespace

std::string written(const client_card& card) {
    return word(card.host) + '\t' + std::to_string(card.pid) + '\t' + word(card.program) + '\t' +
           word(card.label) + '\t' + std::to_string(card.since.count());
}

std::optional<client_card> card_in(std::string_view info) {
    const std::vector<std::string_view> words = words_of(info);
    if (words.size() != 5)
        return std::nullopt;
    const auto pid = number_in(words[1]), since = number_in(words[4]);
    if (!pid || !since)
        return std::nullopt;
    return client_card{std::string{words[0]}, *pid, std::string{words[2]}, std::string{words[3]},
                       std::chrono::seconds{*since}};
}

bool is_ours(std::string_view owner) {
    return owner.size() > uuid_size && owner[uuid_size] == ':' &&
           owner.substr(mark_at, mark_of_ours.size()) == mark_of_ours;
}

} // namespace holdfast::mysql
