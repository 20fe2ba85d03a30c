// SPDX-License-Identifier: Apache-2.0
#include "store/redis/lock_finder.hpp"

#include "store/redis/replies.hpp"
#include "store/redis/scripts.hpp"

#include <set>
#include <utility>

namespace holdfast::redis {
namespace {

/// Keys looked at in one script: a fraction of a millisecond of the server's time.
constexpr std::int64_t keys_in_step = 500;

/// At a fraction of a millisecond each, some seconds.
constexpr int steps_max = 10'000;

const std::string& text(const reply& said) {
    if (said.type != reply::kind::text)
        throw_unexpected_answer();
    return said.text;
}

} // namespace

asio::awaitable<found_names> find_locks(node& server, std::string pattern, std::size_t limit) {
    std::set<std::string> names; // a SCAN may tell one twice
    std::string cursor = "0";
    for (int steps = 0; steps < steps_max; ++steps) {
        const argument arguments[] = {std::string_view{cursor}, std::string_view{pattern},
                                      keys_in_step};
        const reply step = co_await server.call(scripts::find_locks, {}, arguments);
        if (items(step).empty())
            throw_unexpected_answer();
        for (auto name = step.items.begin() + 1; name != step.items.end(); ++name) {
            if (names.size() == limit && !names.contains(text(*name)))
                co_return found_names{{names.begin(), names.end()}, false};
            names.insert(text(*name));
        }
        cursor = text(step.items.front());
        if (cursor == "0")
            co_return found_names{{names.begin(), names.end()}, true};
    }
    co_return found_names{{names.begin(), names.end()}, false};
}

} // namespace holdfast::redis
