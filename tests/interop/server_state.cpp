// SPDX-License-Identifier: Apache-2.0
#include "interop/server_state.hpp"

#include "support/eventually.hpp"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <stdexcept>

namespace holdfast::interop {
namespace {

/// The documented rule, written down a second time on purpose: not by the code that is tested.
std::string belonging_to(const std::string& prefix, const std::string& name) {
    return name.find('{') == name.npos ? prefix + ":{" + name + "}" : prefix + ":" + name;
}

std::optional<duration> left_of(support::redis_server& server, const std::string& key) {
    const duration left{server.command({"PTTL", key}).integer};
    return left < duration::zero() ? std::nullopt : std::optional{left};
}

std::map<std::string, std::string> in_pairs(const redis::reply& words) {
    std::map<std::string, std::string> all;
    for (std::size_t i = 0; i + 1 < words.items.size(); i += 2)
        all[words.items[i].text] = words.items[i + 1].text;
    return all;
}

bool is_aside(const std::string& key) {
    return key.starts_with("redisson_unlock_latch:") || key.starts_with("holdfast_client:") ||
           key.starts_with("holdfast_requests:") || key == "holdfast_clients" ||
           key.ends_with(":waiters") || key.ends_with(":clients");
}

} // namespace

std::map<std::string, key_state> state_of(support::redis_server& server) {
    std::map<std::string, key_state> all;
    for (const redis::reply& each : server.command({"KEYS", "*"}).items) {
        const std::string& key = each.text;
        key_state found{server.command({"TYPE", key}).text, {}, {}, left_of(server, key)};
        if (found.type == "none")
            continue; // it ended just now
        // What each side keeps for itself is no part of the lock, and goes by itself.
        if (is_aside(key)) {
            if (!found.left && server.command({"EXISTS", key}).integer == 1)
                throw std::runtime_error{key + " stays for ever"};
            continue;
        }
        if (found.type == "hash")
            found.fields = in_pairs(server.command({"HGETALL", key}));
        if (found.type == "zset")
            found.fields = in_pairs(server.command({"ZRANGE", key, "0", "-1", "WITHSCORES"}));
        if (found.type == "string")
            found.value = server.command({"GET", key}).text;
        all[key] = std::move(found);
    }
    return all;
}

std::size_t memories_of_requests(support::redis_server& server, const std::string& name) {
    const std::string prefix = belonging_to("holdfast_requests", name) + ":";
    const std::vector<redis::reply> keys = server.command({"KEYS", "holdfast_requests:*"}).items;
    return static_cast<std::size_t>(std::ranges::count_if(
        keys, [&](const redis::reply& each) { return each.text.starts_with(prefix); }));
}

std::chrono::microseconds time_of(support::redis_server& server) {
    const redis::reply now = server.command({"TIME"});
    return std::chrono::seconds{std::stoll(now.items.at(0).text)} +
           std::chrono::microseconds{std::stoll(now.items.at(1).text)};
}

std::string channel_of(const std::string& name) {
    return belonging_to("redisson_lock__channel", name);
}

namespace {

/// The text from one quote to the next, in which a quote, a backslash and whatever is not printable
/// are escaped; `from` moves behind it.
std::string quoted(const std::string& line, std::size_t& from) {
    std::string text;
    for (++from; line.at(from) != '"'; ++from) {
        if (line[from] != '\\') {
            text += line[from];
        } else if (line.at(++from) == 'x') {
            text += static_cast<char>(std::stoi(line.substr(from + 1, 2), nullptr, 16));
            from += 2;
        } else {
            text += line[from]; // of "\n" and its like only that there was something
        }
    }
    ++from;
    return text;
}

/// `1700000000.123456 [0 127.0.0.1:5555] "PING"`
entry entry_of(const std::string& line) {
    const std::size_t point = line.find('.'), bracket = line.find("] ");
    entry made{std::chrono::seconds{std::stoll(line)} +
                   microseconds{std::stoll(line.substr(point + 1, 6))},
               line.substr(0, bracket).ends_with(" lua"),
               {}};
    for (std::size_t i = bracket + 2; i < line.size(); ++i)
        made.words.push_back(quoted(line, i));
    for (char& letter : made.words.at(0))
        letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
    return made;
}

} // namespace

bool entry::mentions(const std::string& word) const {
    return std::any_of(words.begin() + 1, words.end(),
                       [&](const std::string& each) { return each.starts_with(word); });
}

transcript::transcript(const std::string& socket_path)
    : connection_{socket_path}
    , mark_{socket_path} {
    (void)connection_.command({"MONITOR"});
}

// A server tells in order, so what came before a mark of ours is heard before the mark. Other
// transcripts leave marks, too.
const std::vector<entry>& transcript::all() {
    static std::atomic<int> last_mark = 0;
    const std::string mark = "mark " + std::to_string(++last_mark);
    (void)mark_.command({"ECHO", mark});
    for (;;) {
        const std::optional<redis::reply> line =
            connection_.next_message(duration{support::far_too_long});
        if (!line)
            throw std::runtime_error{"the server's monitor is silent"};
        entry next = entry_of(line->text);
        if (next.is("ECHO") && next.words.at(1) == mark)
            return heard_;
        heard_.push_back(std::move(next));
    }
}

} // namespace holdfast::interop
