// SPDX-License-Identifier: Apache-2.0
#include "store/redis/name_finder.hpp"

#include "net/failure.hpp"
#include "store/redis/replies.hpp"
#include "store/redis/scripts.hpp"

#include <exception>
#include <set>
#include <string_view>
#include <utility>

namespace holdfast::redis {
namespace {

/// Number of keys that one script scans. One scan takes a fraction of a millisecond.
constexpr std::int64_t keys_in_step = 250;

/// Maximum number of steps. All steps together take some seconds.
constexpr int steps_max = 20'000;

/// Returns the words in the reply to one step: the cursor of the next step, and the names that were
/// found.
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

/// Parameters and results of a search.
struct search {
    const script& by;
    const std::string pattern;
    const std::size_t limit;
    const std::string_view kind;   ///< kind of counter; empty if the script knows one kind only
    std::set<std::string> names{}; // a set, because SCAN may return a name twice
    bool complete = true;
    std::vector<std::string> unreachable{};
};

asio::awaitable<void> find_at(node& server, shard where, search& what) {
    std::string cursor = "0";
    for (int steps = 0; steps < steps_max; ++steps) {
        const argument arguments[] = {std::string_view{cursor}, std::string_view{what.pattern},
                                      keys_in_step, what.kind};
        const reply step = co_await server.call_at(where, what.by, arguments);
        const std::vector<std::string> words = checked(server, step, words_in);
        for (auto name = words.begin() + 1; name != words.end(); ++name) {
            if (what.names.size() == what.limit && !what.names.contains(*name)) {
                what.complete = false;
                co_return;
            }
            what.names.insert(*name);
        }
        cursor = words.front();
        if (cursor == "0")
            co_return;
    }
    what.complete = false;
}

/// Searches all servers. If some servers cannot be asked, the list is incomplete. If no server can
/// be asked, throws the error.
asio::awaitable<found_names> find(node& server, search what) {
    std::exception_ptr trouble;
    bool any = false;
    const std::vector<shard> all = co_await server.shards();
    for (const shard each : all) {
        try {
            co_await find_at(server, each, what);
            any = true;
        } catch (const boost::system::system_error& why) {
            what.complete = false;
            what.unreachable.push_back(net::story_of(why));
            trouble = std::current_exception();
        }
    }
    if (trouble && !any)
        std::rethrow_exception(trouble);
    co_return found_names{
        {what.names.begin(), what.names.end()}, what.complete, std::move(what.unreachable)};
}

} // namespace

asio::awaitable<found_names> find_locks(node& server, std::string pattern, std::size_t limit) {
    return find(server, {scripts::find_locks, std::move(pattern), limit, {}});
}

asio::awaitable<found_names> find_counters(node& server, counter_kind kind, std::string pattern,
                                           std::size_t limit) {
    return find(server, {scripts::find_counters, std::move(pattern), limit, word_of(kind)});
}

} // namespace holdfast::redis
