// SPDX-License-Identifier: Apache-2.0
// What Redisson's scripts of a fair lock do, each step by a command of its own.
#include "trace_redisson.hpp"

#include <algorithm>

namespace holdfast::trace {

bool is_of_a_fair_lock(const command& made) {
    return made.is_script && made.what.starts_with("fair");
}

std::int64_t redisson::now() {
    const redis::reply time = server_.command({"TIME"});
    return std::stoll(time.items.at(0).text) * 1000 + std::stoll(time.items.at(1).text) / 1000;
}

/// `NOW`, or `NOW+5000`.
std::int64_t redisson::moment(const std::string& recorded) {
    const std::size_t plus = recorded.find('+');
    return now() + (plus == std::string::npos ? 0 : std::stoll(recorded.substr(plus + 1)));
}

std::optional<redis::reply> redisson::fair(const command& made) {
    if (made.what == "fair.unlock")
        return unlock_fair(made);
    if (made.what == "fair.give-up")
        return give_up_fair(made);
    if (made.what == "fair.force-unlock")
        return force_unlock_fair(made);
    return acquire_fair(made);
}

void redisson::purge(const std::string& queue, const std::string& deadlines) {
    for (;;) {
        const std::string head = server_.command({"LINDEX", queue, "0"}).text;
        const std::string score =
            head.empty() ? "" : server_.command({"ZSCORE", deadlines, head}).text;
        if (score.empty() || std::stod(score) > static_cast<double>(now()))
            return;
        server_.command({"ZREM", deadlines, head});
        server_.command({"LPOP", queue});
    }
}

redis::reply redisson::acquire_fair(const command& made) {
    const std::string &name = made.keys.at(0), &queue = made.keys.at(1),
                      &deadlines = made.keys.at(2), &owner = made.words.at(1);
    const bool waits = !made.what.ends_with("try-once");
    const std::string& wait = made.words.at(waits ? 2 : 3);
    purge(queue, deadlines);
    const std::string head = server_.command({"LINDEX", queue, "0"}).text;
    const bool free = server_.command({"EXISTS", name}).integer == 0;
    if (free && (head.empty() || head == owner)) {
        server_.command({"LPOP", queue});
        server_.command({"ZREM", deadlines, owner});
        for (const redis::reply& each : server_.command({"ZRANGE", deadlines, "0", "-1"}).items)
            server_.command({"ZINCRBY", deadlines, "-" + wait, each.text});
        server_.command({"HSET", name, owner, "1"});
        server_.command({"PEXPIRE", name, made.words.at(0)});
        return {};
    }
    if (server_.command({"HEXISTS", name, owner}).integer == 1) {
        if (made.what.starts_with("fair-non-reentrant"))
            return integer(0); // it is an error
        server_.command({"HINCRBY", name, owner, "1"});
        server_.command({"PEXPIRE", name, made.words.at(0)});
        return {};
    }
    if (!waits)
        return integer(1);
    if (!server_.command({"ZSCORE", deadlines, owner}).text.empty())
        return server_.command({"PTTL", name});
    const std::string last = server_.command({"LINDEX", queue, "-1"}).text;
    const std::string score =
        last.empty() || last == owner ? "" : server_.command({"ZSCORE", deadlines, last}).text;
    const std::int64_t after = score.empty() ? server_.command({"PTTL", name}).integer
                                             : static_cast<std::int64_t>(std::stod(score)) - now();
    server_.command({"ZADD", deadlines, std::to_string(after + std::stoll(wait) + now()), owner});
    server_.command({"RPUSH", queue, owner});
    return integer(after);
}

void redisson::tell_head(const command& made) {
    const std::string head = server_.command({"LINDEX", made.keys.at(1), "0"}).text;
    if (!head.empty())
        server_.command({"PUBLISH", made.keys.at(3) + ":" + head, made.words.at(0)});
}

redis::reply redisson::unlock_fair(const command& made) {
    const std::string &name = made.keys.at(0), &owner = made.words.at(2);
    purge(made.keys.at(1), made.keys.at(2));
    if (server_.command({"EXISTS", name}).integer == 0) {
        tell_head(made);
        return integer(1);
    }
    if (server_.command({"HEXISTS", name, owner}).integer == 0)
        return {};
    if (server_.command({"HINCRBY", name, owner, "-1"}).integer > 0) {
        server_.command({"PEXPIRE", name, made.words.at(1)});
        return integer(0);
    }
    server_.command({"DEL", name});
    tell_head(made);
    return integer(1);
}

redis::reply redisson::give_up_fair(const command& made) {
    const std::string &queue = made.keys.at(0), &deadlines = made.keys.at(1),
                      &owner = made.words.at(0);
    const auto waiting = server_.command({"LRANGE", queue, "0", "-1"}).items;
    const auto mine = std::ranges::find(waiting, owner, &redis::reply::text);
    for (auto behind = mine; behind != waiting.end(); ++behind)
        if (behind != mine)
            server_.command({"ZINCRBY", deadlines, "-" + made.words.at(1), behind->text});
    server_.command({"ZREM", deadlines, owner});
    server_.command({"LREM", queue, "0", owner});
    return {};
}

redis::reply redisson::force_unlock_fair(const command& made) {
    purge(made.keys.at(1), made.keys.at(2));
    if (server_.command({"DEL", made.keys.at(0)}).integer == 0)
        return integer(0);
    tell_head(made);
    return integer(1);
}

} // namespace holdfast::trace
