// SPDX-License-Identifier: Apache-2.0
#include "trace_redisson.hpp"

#include <algorithm>
#include <array>

namespace holdfast::trace {
namespace {

constexpr std::string_view latch_prefix = "redisson_unlock_latch";

} // namespace

bool is_known(const command& made) {
    constexpr std::array<std::string_view, 10> known{
        "lock.acquire",
        "lock.unlock",
        "lock.force-unlock",
        "lock.renew",
        "object.expire",
        "spin.unlock",
        "spin.force-unlock",
        "fenced.acquire",
        "fenced.acquire-with-token",
        "non-reentrant.acquire",
    };
    return !made.is_script || is_of_a_fair_lock(made) ||
           std::ranges::find(known, made.what) != known.end();
}

std::optional<redis::reply> redisson::run(const command& made) {
    if (is_of_a_fair_lock(made))
        return fair(made);
    if (made.what == "lock.acquire")
        return acquire(made);
    if (made.what == "non-reentrant.acquire")
        return non_reentrant_acquire(made);
    if (made.what.starts_with("fenced.acquire"))
        return fenced_acquire(made);
    if (made.what == "lock.unlock")
        return unlock(made);
    if (made.what == "spin.unlock")
        return spin_unlock(made);
    if (made.what.ends_with(".force-unlock"))
        return force_unlock(made);
    if (made.what == "lock.renew")
        return renew(made);
    if (made.what == "object.expire")
        return server_.command({"PEXPIRE", made.keys.at(0), made.words.at(0)});
    if (made.what == "SUBSCRIBE" || made.what == "UNSUBSCRIBE" ||
        made.words.at(0).starts_with(latch_prefix))
        return std::nullopt;
    std::vector<std::string> words{made.what};
    for (const std::string& each : made.words)
        words.push_back(each.starts_with("NOW") ? std::to_string(moment(each)) : each);
    return server_.command(words);
}

redis::reply redisson::acquire(const command& made) {
    const std::string &name = made.keys.at(0), &lease = made.words.at(0), &owner = made.words.at(1);
    const bool free = server_.command({"EXISTS", name}).integer == 0;
    if (!free && server_.command({"HEXISTS", name, owner}).integer == 0)
        return server_.command({"PTTL", name});
    server_.command({"HINCRBY", name, owner, "1"});
    server_.command({"PEXPIRE", name, lease});
    return {};
}

/// A re-entry costs a token too.
redis::reply redisson::fenced_acquire(const command& made) {
    const redis::reply left = acquire(made);
    const bool taken = left.type == redis::reply::kind::nil;
    const std::int64_t token = taken ? server_.command({"INCR", made.keys.at(1)}).integer : -1;
    if (made.what == "fenced.acquire")
        return left;
    redis::reply both;
    both.type = redis::reply::kind::array;
    both.items = {integer(taken ? -1 : left.integer), integer(token)};
    return both;
}

redis::reply redisson::non_reentrant_acquire(const command& made) {
    if (server_.command({"HEXISTS", made.keys.at(0), made.words.at(1)}).integer == 0)
        return acquire(made);
    redis::reply refused;
    refused.type = redis::reply::kind::error;
    refused.text = "ERR " + made.words.at(2);
    return refused;
}

redis::reply redisson::unlock(const command& made) {
    const redis::reply said = leave(made.keys.at(0), made.words.at(1), made.words.at(2));
    if (said.integer == 1)
        server_.command({"PUBLISH", made.keys.at(1), made.words.at(0)});
    return said;
}

redis::reply redisson::spin_unlock(const command& made) {
    return leave(made.keys.at(0), made.words.at(0), made.words.at(1));
}

redis::reply redisson::leave(const std::string& name, const std::string& lease,
                             const std::string& owner) {
    if (server_.command({"HEXISTS", name, owner}).integer == 0)
        return {};
    if (server_.command({"HINCRBY", name, owner, "-1"}).integer > 0) {
        server_.command({"PEXPIRE", name, lease});
        return integer(0);
    }
    server_.command({"DEL", name});
    return integer(1);
}

redis::reply redisson::force_unlock(const command& made) {
    if (server_.command({"DEL", made.keys.at(0)}).integer == 0)
        return integer(0);
    if (made.keys.size() > 1) // a spin lock's has no channel
        server_.command({"PUBLISH", made.keys.at(1), made.words.at(0)});
    return integer(1);
}

redis::reply redisson::renew(const command& made) {
    redis::reply all;
    all.type = redis::reply::kind::array;
    for (std::size_t i = 0; i < made.keys.size(); ++i) {
        const bool ours =
            server_.command({"HEXISTS", made.keys[i], made.words.at(i + 1)}).integer == 1;
        if (ours)
            server_.command({"PEXPIRE", made.keys[i], made.words.at(0)});
        all.items.push_back(integer(ours ? 1 : 0));
    }
    // One name and one number, before there were batches.
    const bool was_single = made.answer && made.answer->is_int64();
    return was_single ? all.items.at(0) : all;
}

// The steps of Redisson's scripts of a fair lock, with one command for each step.

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
