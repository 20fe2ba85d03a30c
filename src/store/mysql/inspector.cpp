// SPDX-License-Identifier: Apache-2.0
#include "store/mysql/inspector.hpp"

#include "store/mysql/forcing.hpp"
#include "store/mysql/state_texts.hpp"
#include "store/remote/attempts.hpp"

#include <utility>

#include <fnmatch.h>

namespace holdfast::mysql {
namespace {

/// Maximum number of names in one answer, and maximum number of answers for one list.
constexpr std::size_t names_at_once = 500;
constexpr int answers_max = 200;

} // namespace

asio::awaitable<std::vector<lock_state>> row_inspector::states_of(std::vector<std::string> names) {
    const auto make = [&](const runtime::remote_clock&, const server_facts&) {
        return states_asked(at_.named, names);
    };
    composing text{make};
    const answers said = co_await at_.server.run(text);
    co_return states_in(names, answer_at(said, 0), answer_at(said, 1), answer_at(said, 2));
}

asio::awaitable<std::optional<lock_state>> row_inspector::describe(lock_name name) {
    std::vector<std::string> one;
    one.push_back(std::move(name.text));
    std::vector<lock_state> found = co_await states_of(std::move(one));
    if (found.empty())
        co_return std::nullopt;
    co_return std::move(found.front());
}

asio::awaitable<std::optional<holding>> row_inspector::inspect(lock_name name) {
    const std::optional<lock_state> found = co_await describe(std::move(name));
    if (!found)
        co_return std::nullopt;
    co_return holding_of(*found);
}

asio::awaitable<std::uint64_t> row_inspector::last_token(lock_name name) {
    std::vector<std::string> one;
    one.push_back(name.text);
    const auto make = [&](const runtime::remote_clock&, const server_facts&) {
        return states_asked(at_.named, one);
    };
    composing text{make};
    const answers said = co_await at_.server.run(text);
    const auto& rows = answer_at(said, 0).rows;
    co_return rows.empty() ? 0 : static_cast<std::uint64_t>(number_at(rows.front(), 4));
}

asio::awaitable<lock_list> row_inspector::list(std::string pattern, std::size_t limit) {
    lock_list all;
    std::string behind;
    for (int asked = 0; asked < answers_max; ++asked) {
        const auto make = [&](const runtime::remote_clock&, const server_facts&) {
            return std::vector<std::string>{held_names(at_.named, behind, names_at_once)};
        };
        composing text{make};
        const answers said = co_await at_.server.run(text);
        const auto& rows = answer_at(said, 0).rows;
        std::vector<std::string> names;
        for (const auto& row : rows) {
            behind = text_at(row, 0);
            if (::fnmatch(pattern.c_str(), behind.c_str(), 0) == 0)
                names.push_back(behind);
        }
        std::vector<lock_state> described;
        if (!names.empty())
            described = co_await states_of(std::move(names));
        for (lock_state& each : described) {
            if (!each.is_held) // it was released in the meantime
                continue;
            if (all.locks.size() == limit) {
                all.complete = false;
                co_return all;
            }
            all.locks.push_back(std::move(each));
        }
        if (rows.size() < names_at_once)
            co_return all;
    }
    all.complete = false;
    co_return all;
}

asio::awaitable<forced> row_inspector::force_release(lock_name name, std::string only_from) {
    return force(std::move(name), std::move(only_from), std::nullopt);
}

asio::awaitable<forced> row_inspector::force_kind(lock_name name, lock_kind kind) {
    return force(std::move(name), {}, kind);
}

asio::awaitable<forced> row_inspector::force(lock_name name, std::string only_from,
                                             std::optional<lock_kind> kind) {
    forced outcome;
    const force_wish what{name, std::move(only_from), kind};
    const ask nobody{std::move(name), {}, lock_kind::plain};
    remote::attempts::sender send = [&](time_point deadline) {
        return force_once(at_, what, deadline, outcome);
    };
    // Makes a single attempt, which may use the whole time limit. A late attempt changes nothing.
    remote::attempts one{at_.context, nobody, at_.server.command_timeout()};
    co_await one.look(std::move(send), duration::zero(), duration::zero());
    co_return outcome;
}

asio::awaitable<std::unique_ptr<watch>> row_inspector::listen(lock_name name, alarm& wake) {
    co_return poller_.enrol(lock_is_free(at_.named, name), wake);
}

} // namespace holdfast::mysql
