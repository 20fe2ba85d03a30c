// SPDX-License-Identifier: Apache-2.0
#include "cli/count/inspect_counter.hpp"

#include "cli/count/counter_words.hpp"
#include "cli/exit_status.hpp"
#include "cli/look/lock_json.hpp"
#include "cli/terminal/say.hpp"

#include <holdfast/counting_semaphore.hpp>
#include <holdfast/latch.hpp>
#include <holdfast/leased_semaphore.hpp>
#include <holdfast/rate_limiter.hpp>

#include <iostream>

namespace cli {
namespace {

using holdfast::counter_kind;

void print_listeners(counter_kind kind, const holdfast::counter_state& found) {
    std::cout << "listening  ";
    if (found.listeners)
        std::cout << *found.listeners << " connection(s) wait for "
                  << (kind == counter_kind::latch ? "its opening\n" : "permits\n");
    else
        std::cout << "not known: this user may not ask\n";
}

void print_state(const std::string& name, counter_kind kind, const holdfast::counter_state& found) {
    std::cout << "name       " << printable(name, name.size()) << "\nkind       " << word_of(kind)
              << (kind == counter_kind::latch ? "\nto go      " : "\npermits    ") << found.value
              << '\n';
    if (kind == counter_kind::permits)
        std::cout << "held       " << found.taken << '\n';
    if (kind == counter_kind::rate) // waiters for a rate poll, so the server cannot count them
        std::cout << "rate       " << rate_in_words(found.of, "permit") << '\n';
    else
        print_listeners(kind, found);
}

bool erase(holdfast::client& home, const std::string& name, counter_kind kind) {
    switch (kind) {
    case counter_kind::semaphore:
        return holdfast::counting_semaphore{home, {name}}.erase();
    case counter_kind::permits:
        return holdfast::leased_semaphore{home, {name}}.erase();
    case counter_kind::latch:
        return holdfast::latch{home, {name}}.erase();
    case counter_kind::rate:
        return holdfast::rate_limiter{home, {name}}.erase();
    }
    return false;
}

/// Calls `ask` and returns its exit status. If the name belongs to a key of another type, prints
/// that type and returns `no_lock`.
template <typename Ask>
int ask_of(const look_options& given, counter_kind kind, Ask ask) {
    try {
        return ask();
    } catch (const boost::system::system_error& failure) {
        if (failure.code() != holdfast::store_errc::wrong_type)
            throw;
        say("'" + printable(given.name) + "' is no " + word_of(kind) + ", but something else");
        return no_lock;
    }
}

bool confirmed(const std::string& name, counter_kind kind, const holdfast::counter_state& found) {
    std::cerr << "'" << printable(name) << "': " << state_in_words(kind, found)
              << ". Programs may count on it. Delete it? [y/N] " << std::flush;
    return is_answered_yes();
}

} // namespace

int inspect_counter(holdfast::client& home, const look_options& given, counter_kind kind) {
    return ask_of(given, kind, [&]() -> int {
        const holdfast::counter_state found = home.inspect({given.name}, kind);
        if (given.json) {
            boost::json::object told = named(given.name);
            add_to_json(told, kind, found);
            write_json(told);
        } else if (found.exists) {
            print_state(given.name, kind, found);
        } else {
            std::cout << "'" << printable(given.name) << "': there is no such " << word_of(kind)
                      << (kind == counter_kind::latch ? ", so it is open\n" : "\n");
        }
        return found.exists ? success : is_free;
    });
}

int erase_counter(holdfast::client& home, const look_options& given, counter_kind kind, bool yes) {
    return ask_of(given, kind, [&]() -> int {
        const holdfast::counter_state found = home.inspect({given.name}, kind);
        if (found.exists && !yes && !confirmed(given.name, kind, found)) {
            say("left alone");
            return left_alone;
        }
        const bool is_gone = found.exists && erase(home, given.name, kind);
        if (given.json) {
            boost::json::object told = named(given.name);
            told["released"] = is_gone;
            boost::json::object was;
            add_to_json(was, kind, found);
            told["was"] = found.exists ? boost::json::value(std::move(was)) : nullptr;
            write_json(told);
        } else if (!is_gone) {
            say("'" + printable(given.name) + "': there is no such " + word_of(kind));
        }
        return is_gone ? success : is_free;
    });
}

} // namespace cli
