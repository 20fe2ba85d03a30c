// SPDX-License-Identifier: Apache-2.0
#include "store/mysql/mysql_counters.hpp"

#include "store/mysql/counter_change.hpp"
#include "store/mysql/counter_texts.hpp"
#include "store/mysql/latch_place.hpp"
#include "store/mysql/mysql_locks.hpp"
#include "store/mysql/other_kinds.hpp"

#include <utility>

#include <fnmatch.h>

namespace holdfast::mysql {
namespace {

/// Maximum number of names in one answer, and maximum number of answers for one list.
constexpr std::size_t names_in_page = 1000;
constexpr int pages_max = 100;

} // namespace

std::optional<std::string> mysql_counters::objection_to(const lock_name& name, counter_kind) const {
    return objection_to_name(name);
}

std::unique_ptr<place> mysql_counters::line_up(counter_ask want, alarm& wake) {
    return std::make_unique<latch_place>(at_, poller_, want, wake);
}

asio::awaitable<counter_answer> mysql_counters::change(counter_change what) {
    counter_answer outcome;
    const ask nobody{what.name, what.request, lock_kind::plain};
    remote::attempts::sender send = [&](time_point deadline) {
        return change_once(at_, what, deadline, memory(), outcome);
    };
    // Makes a single attempt, which may use the whole time limit. A late attempt changes nothing.
    remote::attempts one{at_.context, nobody, at_.server.command_timeout()};
    co_await one.look(std::move(send), duration::zero(), duration::zero());
    co_return outcome;
}

asio::awaitable<counter_state> mysql_counters::inspect(lock_name name, counter_kind kind) {
    const auto make = [&](const runtime::remote_clock&, const server_facts&) {
        return std::vector<std::string>{counter_inspected(at_.named, name, kind),
                                        kinds_there(at_.named, name)};
    };
    composing text{make};
    const answers said = co_await at_.server.run(text);
    if (const char* const other = other_kind_in(answer_at(said, 1), reason_for(kind)))
        throw_wrong_type(other, words_for(kind));
    counter_state found;
    if (const auto& rows = answer_at(said, 0).rows; !rows.empty()) {
        found.exists = true;
        found.taken = number_at(rows.front(), 1);
        found.value = number_at(rows.front(), 0) - found.taken;
    }
    co_return found;
}

asio::awaitable<counter_list> mysql_counters::list(counter_kind kind, std::string pattern,
                                                   std::size_t limit) {
    counter_list all;
    std::string behind;
    for (int page = 0; page < pages_max; ++page) {
        const auto make = [&](const runtime::remote_clock&, const server_facts&) {
            return std::vector<std::string>{
                counters_listed(at_.named, kind, behind, names_in_page)};
        };
        composing text{make};
        const answers said = co_await at_.server.run(text);
        const auto& rows = answer_at(said, 0).rows;
        for (const auto& row : rows) {
            behind = text_at(row, 0);
            if (::fnmatch(pattern.c_str(), behind.c_str(), 0) != 0)
                continue;
            if (all.counters.size() == limit) {
                all.complete = false;
                co_return all;
            }
            counter_list::entry one{behind, {}};
            one.state = co_await inspect({behind}, kind);
            if (one.state.exists) // a counter that does not exist was erased in the meantime
                all.counters.push_back(std::move(one));
        }
        if (rows.size() < names_in_page)
            co_return all;
    }
    all.complete = false;
    co_return all;
}

} // namespace holdfast::mysql
