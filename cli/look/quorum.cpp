// SPDX-License-Identifier: Apache-2.0
#include "cli/look/quorum.hpp"

#include "cli/command_line.hpp"
#include "cli/look/lock_text.hpp"
#include "cli/terminal/output.hpp"
#include "cli/text/text.hpp"

#include <boost/asio/use_future.hpp>

#include <algorithm>
#include <future>
#include <iostream>
#include <map>
#include <thread>

#include <unistd.h>

namespace cli {
namespace {

/// Time to wait for an unreachable node. It is zero, because a quorum works without some of its
/// nodes.
constexpr holdfast::duration no_wait{};

} // namespace

node_list connect_all(const look_options& given, std::optional<holdfast::duration> outage) {
    node_list all;
    for (const std::string& url : each_url(given.server)) {
        holdfast::options how = reaching(url);
        how.unavailable_timeout = outage;
        all.push_back({without_password(url), holdfast::client{std::move(how)}});
    }
    return all;
}

bool asks_quorum(look_options& given) {
    given.server = server_urls(given.urls);
    return each_url(given.server).size() > 1;
}

std::string failure_in_words(const boost::system::system_error& failure) {
    if (failure.code() == holdfast::errc::unreachable)
        return "it cannot be reached";
    return reason_in_words(failure);
}

std::vector<node_state> inspect_all(node_list& of, const std::string& name, bool strings_are_locks,
                                    holdfast::lock_details details) {
    std::list<std::future<std::optional<holdfast::lock_state>>> answers;
    for (node& each : of)
        answers.push_back(each.home.async_inspect(name, details, holdfast::asio::use_future));
    std::vector<node_state> all;
    for (const node& each : of) {
        node_state state{.server = each.server, .strings_are_locks = strings_are_locks};
        try {
            state.lock = answers.front().get();
            if (state.lock)
                state.lock->name = name; // without the prefix of the URL
        } catch (const boost::system::system_error& failure) {
            state.failure = failure_in_words(failure);
        }
        answers.pop_front();
        all.push_back(std::move(state));
    }
    return all;
}

namespace {

struct counts {
    std::size_t held = 0, free = 0, odd = 0, away = 0;
};

counts count(const std::vector<node_state>& all) {
    counts made;
    for (const node_state& each : all) {
        if (!each.failure.empty())
            ++made.away;
        else if (each.is_something_else())
            ++made.odd;
        else
            ++(each.is_held() ? made.held : made.free);
    }
    return made;
}

} // namespace

int standing_of(const std::vector<node_state>& all) {
    const counts found = count(all);
    const std::size_t majority = majority_of(all.size());
    if (found.held >= majority)
        return success;
    if (found.odd >= majority)
        return no_lock;
    return found.free + found.held >= majority ? is_free : unavailable;
}

std::string standing_in_words(const std::vector<node_state>& all) {
    const counts found = count(all);
    std::string words =
        "held on " + std::to_string(found.held) + " of " + std::to_string(all.size()) + " nodes";
    if (found.away > 0)
        words += ", and " + std::to_string(found.away) + " could not be asked";
    return words;
}

boost::json::array to_json(const std::vector<node_state>& all) {
    boost::json::array made;
    for (const node_state& each : all)
        made.push_back({{"server", text_in_json(each.server)},
                        {"reached", each.failure.empty()},
                        {"held", each.is_held()},
                        {"lock", each.lock ? boost::json::value(to_json(*each.lock)) : nullptr},
                        {"failure", each.failure.empty() ? boost::json::value(nullptr)
                                                         : text_in_json(each.failure)}});
    return made;
}

// `holdfast inspect`, `ls`, `wait` and `unlock --force` on a quorum.

namespace {

using holdfast::lock_state;

std::string state_in_words(const node_state& one) {
    if (!one.failure.empty())
        return "cannot be asked: " + one.failure;
    if (one.is_something_else())
        return "no lock, but a " + one.lock->type;
    if (!one.is_held())
        return "free";
    if (one.lock->kind == holdfast::key_kind::other)
        return "held by another program";
    return left_in_words(*one.lock) + " left, held by " + owners_in_short(*one.lock);
}

std::string by_node(const std::vector<node_state>& all) {
    std::string lines;
    for (const node_state& each : all)
        lines += "  " + printable(each.server + ": " + state_in_words(each), 500) + "\n";
    return lines;
}

std::size_t take_away_everywhere(node_list& of, const std::string& name,
                                 std::vector<node_state>& seen) {
    std::size_t taken = 0;
    auto state = seen.begin();
    for (node& each : of) {
        if (state->is_held()) {
            try {
                taken += take_away(each.home, name, *state->lock) ? 1 : 0;
            } catch (const boost::system::system_error& failure) {
                state->failure = failure_in_words(failure);
            }
        }
        ++state;
    }
    return taken;
}

/// Returns why `unlock` must not remove the lock from a node. Returns an empty text if `unlock` may
/// remove the lock from all nodes.
std::string objection_of_nodes(const std::vector<node_state>& seen, bool is_token) {
    for (const node_state& each : seen) {
        const std::string objection =
            each.is_held() ? objection_to_taking_away(*each.lock, is_token) : std::string{};
        if (!objection.empty())
            return objection + " (" + printable(each.server) + ")";
    }
    return {};
}

/// Returns whether there is a node from which the lock could not be removed.
bool is_any_refused(const std::vector<node_state>& seen) {
    return std::ranges::any_of(
        seen, [](const node_state& each) { return each.is_held() && !each.failure.empty(); });
}

bool confirmed(const std::string& name, const std::vector<node_state>& seen) {
    std::cerr << "'" << printable(name) << "' is " << standing_in_words(seen) << "\n"
              << by_node(seen) << "Its holder may still be working. Take the lock away? [y/N] "
              << std::flush;
    return is_answered_yes();
}

/// A lock name, and the nodes that have a lock of this name.
struct listed {
    lock_state first{};
    std::vector<std::string> servers{};
};

struct listing {
    std::map<std::string, listed> locks{};
    std::vector<std::string> away{};
    bool complete = true;
};

listing list_all(node_list& of, const look_options& given, std::size_t limit) {
    const std::string& pattern = given.name;
    const std::string prefix = prefix_of(given.server);
    listing all;
    for (node& each : of) {
        try {
            holdfast::lock_list found = each.home.list(pattern, limit);
            all.complete = all.complete && found.complete;
            for (const std::string& part : found.unreachable)
                say(printable(each.server) + ": " + printable(part, 500));
            for (lock_state& lock : found.locks) {
                lock.name = without_prefix(std::move(lock.name), prefix);
                listed& known = all.locks[lock.name];
                known.servers.push_back(each.server);
                if (known.servers.size() == 1)
                    known.first = std::move(lock);
            }
        } catch (const boost::system::system_error& failure) {
            say(printable(each.server) + ": " + printable(failure_in_words(failure), 500));
            all.away.push_back(each.server);
        }
    }
    return all;
}

void print_quorum_json(const listing& all, std::size_t nodes) {
    boost::json::array locks;
    for (const auto& [name, lock] : all.locks) {
        boost::json::object one = to_json(lock.first);
        one["nodes"] = texts_in_json(lock.servers);
        one["held"] = lock.servers.size() >= majority_of(nodes);
        locks.push_back(std::move(one));
    }
    write_json({{"locks", std::move(locks)},
                {"complete", all.complete && all.away.empty()},
                {"nodes", nodes},
                {"majority", majority_of(nodes)},
                {"unreachable", texts_in_json(all.away)}});
}

void print_quorum_table(const listing& all, std::size_t nodes) {
    constexpr std::size_t name_least = 16, holder_least = 8;
    table lines{{{"NAME", name_least}, {"NODES"}, {"KIND"}, {"HELD BY", holder_least}, {"LEFT"}}};
    for (const auto& [name, lock] : all.locks)
        lines.add({name, std::to_string(lock.servers.size()) + "/" + std::to_string(nodes),
                   kind_in_words(lock.first), owners_in_short(lock.first),
                   left_in_words(lock.first)});
    if (!all.locks.empty())
        print_list(lines);
    std::cout.flush();
}

} // namespace

int inspect_quorum(const look_options& given) {
    node_list all = connect_all(given, no_wait);
    const std::vector<node_state> found =
        inspect_all(all, given.name, false, holdfast::lock_details::all);
    const int standing = standing_of(found);
    if (given.json) {
        boost::json::object told = named(given.name);
        told["held"] = standing == success;
        told["majority"] = majority_of(found.size());
        told["nodes"] = to_json(found);
        write_json(told);
    } else {
        std::cout << "'" << printable(given.name) << "' is "
                  << (standing == success   ? ""
                      : standing == is_free ? "free: "
                                            : "uncertain: ")
                  << standing_in_words(found) << '\n'
                  << by_node(found);
    }
    return standing;
}

int unlock_quorum(const look_options& given, bool yes, bool is_token) {
    node_list all = connect_all(given, no_wait);
    std::vector<node_state> seen = inspect_all(all, given.name, is_token);
    const std::string objection = objection_of_nodes(seen, is_token);
    const bool held = std::ranges::any_of(seen, &node_state::is_held);
    const int before = standing_of(seen);
    if (held && objection.empty() && !yes && !confirmed(given.name, seen)) {
        say("nothing was changed");
        return left_alone;
    }
    const std::size_t taken = objection.empty() ? take_away_everywhere(all, given.name, seen) : 0;
    if (given.json) {
        boost::json::object told = named(given.name);
        told["released"] = taken > 0;
        told["released_nodes"] = taken;
        told["majority"] = majority_of(seen.size());
        told["was"] = to_json(seen);
        write_json(told);
    } else if (!objection.empty()) {
        say("'" + printable(given.name) + "' " + objection);
    } else if (before == no_lock) {
        say("'" + printable(given.name) + "' is not a lock on most of the nodes");
    } else if (taken == 0 && !is_any_refused(seen)) {
        say("'" + printable(given.name) +
            (held                    ? "' was released meanwhile"
             : before == unavailable ? "' is on none of the nodes that could be asked"
                                     : "' was free"));
    }
    const auto away = static_cast<std::size_t>(
        std::ranges::count_if(seen, [](const node_state& one) { return !one.failure.empty(); }));
    if (away > 0)
        say(how_many(away, "node") + " could not be asked, and may still have it:\n" +
            by_node(seen));
    if (before == no_lock || !objection.empty())
        return no_lock;
    if (seen.size() - away < majority_of(seen.size()))
        return unavailable;
    return taken > 0 ? success : is_free;
}

int list_quorum(const look_options& given, bool names, std::size_t limit) {
    node_list all = connect_all(given, no_wait);
    const listing found = list_all(all, given, limit);
    if (given.json) {
        print_quorum_json(found, all.size());
    } else if (names) {
        const bool raw = ::isatty(STDOUT_FILENO) != 1;
        for (const auto& [name, lock] : found.locks)
            std::cout << (raw ? name : printable(name, name.size())) << '\n';
    } else {
        print_quorum_table(found, all.size());
    }
    if (!found.complete)
        say("the list is not complete: a node has more than " + how_many(limit, "lock") +
            "; give a PATTERN or --limit");
    return all.size() - found.away.size() < majority_of(all.size()) ? unavailable : success;
}

int wait_quorum(const look_options& given, std::chrono::duration<double> most) {
    constexpr std::chrono::milliseconds asks_every{250};
    node_list all = connect_all(given, no_wait);
    waiting_line line{"the release of lock '" + printable(given.name, 40) + "'"};
    const holdfast::time_point start = holdfast::boot_clock::now();
    for (;;) {
        const int standing = standing_of(inspect_all(all, given.name));
        if (standing == no_lock || standing == unavailable) {
            line.clear();
            say(standing == no_lock
                    ? "'" + printable(given.name) + "' is not a lock on most of the nodes"
                    : "too few nodes can be asked: " +
                          printable(server_in_words(given.server), 500));
            return standing;
        }
        const holdfast::duration waited = holdfast::boot_clock::now() - start;
        if (standing == success && waited < most) {
            if (waited >= std::chrono::seconds{1})
                line.draw();
            std::this_thread::sleep_for(std::min<std::chrono::duration<double>>(
                asks_every, most - std::chrono::duration<double>{waited}));
            continue;
        }
        line.clear();
        if (given.json) {
            boost::json::object told = named(given.name);
            told["free"] = standing == is_free;
            told["waited_ms"] = waited.count();
            write_json(told);
        }
        return standing == is_free ? success : busy;
    }
}

} // namespace cli
