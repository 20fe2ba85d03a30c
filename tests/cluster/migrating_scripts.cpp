// SPDX-License-Identifier: Apache-2.0
#include "migrating_scripts.hpp"

#include "redis/client/error_replies.hpp"
#include "support/source_tree.hpp"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <filesystem>

namespace holdfast::migrating {
namespace {

using kind = redis::reply::kind;
using words = std::vector<std::string>;

/// Digits that a clock or an end made.
std::string masked(const std::string& text) {
    std::string out, digits;
    const auto flush = [&] {
        out += digits.size() > 4 ? "#" : digits;
        digits.clear();
    };
    for (const char each : text) {
        if (std::isdigit(static_cast<unsigned char>(each))) {
            digits += each;
            continue;
        }
        flush();
        out += each;
    }
    flush();
    return out;
}

} // namespace

std::vector<std::string> dated(std::vector<std::string> words) {
    const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(
                         std::chrono::system_clock::now().time_since_epoch())
                         .count();
    for (std::string& each : words)
        if (each.size() > 1 && (each[0] == '+' || each[0] == '-') && words[0] == "ZADD")
            each = std::to_string(now + std::stoll(each));
    return words;
}

std::string in_words(const redis::reply& said) {
    switch (said.type) {
    case kind::integer:
        return masked(std::to_string(said.integer));
    case kind::array: {
        std::string all = "{";
        for (const redis::reply& each : said.items)
            all += in_words(each) + " ";
        return all + "}";
    }
    default:
        return masked(said.text);
    }
}

std::string describe(support::redis_server& server, const std::string& key) {
    const auto ask = [&server](const words& what) {
        server.command({"ASKING"}); // it may have it only for who says so
        return server.command(what);
    };
    const std::string type = ask({"TYPE", key}).text;
    const bool ends = ask({"PTTL", key}).integer >= 0;
    redis::reply content;
    if (type == "string")
        content = ask({"GET", key});
    else if (type == "list")
        content = ask({"LRANGE", key, "0", "-1"});
    else if (type == "hash")
        content = ask({"HGETALL", key});
    else
        content = ask({"ZRANGE", key, "0", "-1"});
    std::vector<std::string> parts;
    const std::size_t step = type == "hash" ? 2 : 1;
    for (std::size_t i = 0; i + step <= content.items.size(); i += step) {
        parts.push_back(in_words(content.items[i]));
        if (step == 2)
            parts.back() += "=" + in_words(content.items[i + 1]);
    }
    if (type != "list")
        std::ranges::sort(parts);
    std::string all = type + (ends ? ", with an end: " : ": ") + masked(content.text);
    for (const std::string& each : parts)
        all += each + " ";
    return all;
}

bool is_about_the_place(const std::string& error) {
    return redis::classify(error) == store_errc::try_again || redis::tells_of_absence(error);
}

std::vector<std::string> all_scripts() {
    std::vector<std::string> all;
    for (const auto& each :
         std::filesystem::directory_iterator{support::source_file("src/store/redis/scripts")})
        if (each.path().extension() == ".lua")
            all.push_back(each.path().stem().string());
    return all;
}

} // namespace holdfast::migrating
