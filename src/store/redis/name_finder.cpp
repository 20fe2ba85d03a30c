// SPDX-License-Identifier: Apache-2.0
#include "store/redis/name_finder.hpp"

#include "store/redis/replies.hpp"
#include "store/redis/scripts.hpp"

#include <set>
#include <string_view>
#include <utility>

namespace holdfast::redis {
namespace {

/// Keys looked at in one script: a fraction of a millisecond of the server's time.
constexpr std::int64_t keys_in_step = 250;

/// At a fraction of a millisecond each, some seconds.
constexpr int steps_max = 20'000;

/// What one step tells: where to go on, and what it found.
std::vector<std::string> words_in(const reply& step) {
    std::vector<std::string> words;
    for (const reply& each : items(step))
        words.push_back(text(each));
    if (words.empty())
        throw_unexpected_answer();
    return words;
}

std::string_view word_of(counter_kind kind) {
    switch (kind) {
    case counter_kind::permits:
        return "permits";
    case counter_kind::rate:
        return "rate";
    case counter_kind::semaphore:
    case counter_kind::latch:
        break;
    }
    return "number";
}

/// `kind`: of what the script is to look for, if it knows several.
asio::awaitable<found_names> find(node& server, const script& by, std::string pattern,
                                  std::size_t limit, std::string_view kind) {
    std::set<std::string> names; // a SCAN may tell one twice
    std::string cursor = "0";
    for (int steps = 0; steps < steps_max; ++steps) {
        const argument arguments[] = {std::string_view{cursor}, std::string_view{pattern},
                                      keys_in_step, kind};
        const reply step = co_await server.call(by, {}, arguments);
        const std::vector<std::string> words = checked(server, step, words_in);
        for (auto name = words.begin() + 1; name != words.end(); ++name) {
            if (names.size() == limit && !names.contains(*name))
                co_return found_names{{names.begin(), names.end()}, false};
            names.insert(*name);
        }
        cursor = words.front();
        if (cursor == "0")
            co_return found_names{{names.begin(), names.end()}, true};
    }
    co_return found_names{{names.begin(), names.end()}, false};
}

} // namespace

asio::awaitable<found_names> find_locks(node& server, std::string pattern, std::size_t limit) {
    return find(server, scripts::find_locks, std::move(pattern), limit, {});
}

asio::awaitable<found_names> find_counters(node& server, counter_kind kind, std::string pattern,
                                           std::size_t limit) {
    return find(server, scripts::find_counters, std::move(pattern), limit, word_of(kind));
}

} // namespace holdfast::redis
