// SPDX-License-Identifier: Apache-2.0
// Lists counters for `holdfast ls --type`.
#include "cli/count/counter_words.hpp"
#include "cli/count/inspect_counter.hpp"
#include "cli/exit_status.hpp"
#include "cli/look/lock_json.hpp"
#include "cli/terminal/say.hpp"
#include "cli/text/how_many.hpp"
#include "cli/text/table.hpp"

#include <holdfast/error.hpp>

#include <boost/json/array.hpp>
#include <boost/system/system_error.hpp>

#include <iostream>
#include <utility>

#include <unistd.h>

namespace cli {
namespace {

using holdfast::counter_kind;
using holdfast::counter_list;

void print_all(const counter_list& all, counter_kind kind) {
    constexpr std::size_t name_least = 16;
    table lines{{{"NAME", name_least}, {"KIND"}, {"STATE"}, {"LISTENING"}}};
    for (const counter_list::entry& each : all.counters)
        lines.add({each.name, word_of(kind), state_in_words(kind, each.state),
                   listeners_in_words(kind, each.state)});
    if (!all.counters.empty())
        lines.print(std::cout, form_of(STDOUT_FILENO));
    std::cout.flush();
}

void print_json(const counter_list& all, counter_kind kind, const std::string& server) {
    boost::json::array counters;
    for (const counter_list::entry& each : all.counters) {
        boost::json::object told = named(each.name);
        add_to_json(told, kind, each.state);
        counters.push_back(std::move(told));
    }
    boost::json::object told{{"counters", std::move(counters)},
                             {"complete", all.complete},
                             {"server", text_in_json(without_password(server))}};
    add_unreachable(told, all.unreachable);
    write_json(told);
}

/// Prints the names. If stdout is not a terminal, the names are unchanged. On a terminal, control
/// characters are escaped.
void print_names(const counter_list& all) {
    const bool raw = ::isatty(STDOUT_FILENO) != 1;
    for (const counter_list::entry& each : all.counters)
        std::cout << (raw ? each.name : printable(each.name, each.name.size())) << '\n';
}

} // namespace

int list_counters(holdfast::client& home, const look_options& given, counter_kind kind,
                  std::size_t limit, bool names_only) {
    const counter_list found = home.list(kind, given.name, limit);
    if (given.json)
        print_json(found, kind, given.server);
    else if (names_only)
        print_names(found);
    else
        print_all(found, kind);
    if (!found.complete)
        tell_incomplete("name", limit, found.unreachable);
    return success;
}

void tell_incomplete(std::string_view limited, std::size_t limit,
                     const std::vector<std::string>& unreachable) {
    for (const std::string& each : unreachable)
        say("these are not all: a server could not be asked: " + printable(each, 500));
    if (unreachable.empty())
        say("these are not all: there are more than " + how_many(limit, std::string{limited}) +
            ", or the server has many millions of keys; give a PATTERN or --limit");
}

known_counters find_known_counters(holdfast::client& home, const std::string& pattern,
                                   std::size_t limit) {
    known_counters known;
    for (const counter_kind kind : {counter_kind::permits, counter_kind::rate}) {
        try {
            counter_list found = home.list(kind, pattern, limit);
            known.complete = known.complete && found.complete;
            if (known.unreachable.empty())
                known.unreachable = std::move(found.unreachable);
            for (counter_list::entry& each : found.counters)
                known.counters.push_back({kind, std::move(each.name), each.state});
        } catch (const boost::system::system_error& failure) {
            if (failure.code() == holdfast::errc::invalid_argument)
                continue; // this store does not support this kind
            if (failure.code() != holdfast::store_errc::no_permission)
                throw;
            say("'" + word_of(kind) + "' is not listed: " + failure.what());
        }
    }
    return known;
}

} // namespace cli
