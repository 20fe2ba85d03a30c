// SPDX-License-Identifier: Apache-2.0
#include "cli/count/inspect_counter.hpp"

#include "cli/exit_status.hpp"
#include "cli/look/lock_json.hpp"
#include "cli/terminal/say.hpp"

#include <iostream>

namespace cli {
namespace {

using holdfast::counter_kind;

std::string name_of(counter_kind kind) {
    return kind == counter_kind::latch ? "latch" : "semaphore";
}

void print_state(const std::string& name, counter_kind kind, const holdfast::counter_state& found) {
    const bool is_latch = kind == counter_kind::latch;
    std::cout << "name       " << printable(name, name.size()) << "\nkind       " << name_of(kind)
              << (is_latch ? "\nto go      " : "\npermits    ") << found.value << "\nlistening  ";
    if (found.listeners)
        std::cout << *found.listeners << " connection(s) wait for "
                  << (is_latch ? "its opening\n" : "permits\n");
    else
        std::cout << "not known: this user may not ask\n";
}

} // namespace

std::optional<counter_kind> counter_type(const std::string& word) {
    if (word == "semaphore")
        return counter_kind::semaphore;
    if (word == "latch")
        return counter_kind::latch;
    return std::nullopt;
}

int inspect_counter(holdfast::client& home, const look_options& given, counter_kind kind) {
    try {
        const holdfast::counter_state found = home.inspect({given.name}, kind);
        if (given.json) {
            boost::json::object told = named(given.name);
            told["kind"] = name_of(kind);
            told["exists"] = found.exists;
            told["count"] = found.value;
            told["listeners"] = found.listeners ? boost::json::value(*found.listeners)
                                                : boost::json::value(nullptr);
            write_json(told);
        } else if (found.exists) {
            print_state(given.name, kind, found);
        } else {
            std::cout << "'" << printable(given.name) << "': there is no such " << name_of(kind)
                      << (kind == counter_kind::latch ? ", so it is open\n" : "\n");
        }
        return found.exists ? success : is_free;
    } catch (const boost::system::system_error& failure) {
        if (failure.code() != holdfast::store_errc::wrong_type)
            throw;
        say("'" + printable(given.name) + "' is no " + name_of(kind) + ", but something else");
        return no_lock;
    }
}

} // namespace cli
