// SPDX-License-Identifier: Apache-2.0
#include "config/errors.hpp"
#include "front/async_calls.hpp"
#include "front/blocking_calls.hpp"
#include "front/requests.hpp"
#include "runtime/process.hpp"
#include "sync/acquisition_loop.hpp"

#include <holdfast/client.hpp>

#include <algorithm>
#include <utility>

// Two groups of functions of `client`: functions that report on locks and counters, whoever holds
// them, and functions that check or set up the store.

namespace holdfast {
namespace {

using shared_engine = std::shared_ptr<sync::engine>;

std::shared_ptr<const sync::lock_descriptor> descriptor_of(const shared_engine& home,
                                                           const lock_name& name) {
    return front::make_descriptor(home, name, {});
}

lock_name mapped(const shared_engine& home, const lock_name& name) {
    return descriptor_of(home, name)->name;
}

/// Escapes a name, so that it matches only itself in a pattern.
std::string without_wildcards(std::string_view name) {
    constexpr std::string_view special = "*?[]\\";
    std::string literal;
    for (const char letter : name) {
        if (special.find(letter) != special.npos)
            literal.push_back('\\');
        literal.push_back(letter);
    }
    return literal;
}

/// Replaces each `[!` that begins a class of bytes by `[^`, because a store knows only `[^`.
std::string with_negated_classes(std::string pattern) {
    bool is_class = false;
    for (std::size_t at = 0; at < pattern.size(); ++at) {
        if (pattern[at] == '\\') {
            ++at; // the next byte stands for itself
        } else if (is_class) {
            is_class = pattern[at] != ']';
            if (is_class && at + 2 < pattern.size() && pattern[at + 1] == '-')
                at += 2; // a range, whose end may be any byte
        } else if (pattern[at] == '[') {
            is_class = true;
            if (at + 1 < pattern.size() && (pattern[at + 1] == '!' || pattern[at + 1] == '^'))
                pattern[++at] = '^';
        }
    }
    return pattern;
}

/// Converts the user's pattern, which matches names without the prefix, to a pattern for the names
/// at the store.
std::string pattern_at_store(const shared_engine& home, std::string pattern) {
    return without_wildcards(home->how().prefix) + with_negated_classes(std::move(pattern));
}

asio::awaitable<std::optional<lock_state>> describe(shared_engine home, lock_name name,
                                                    lock_details details) {
    const lock_name of_store = mapped(home, name);
    inspector& view = home->operators_view();
    std::optional<lock_state> found = co_await view.describe(of_store);
    if (found && details == lock_details::all)
        co_await view.add_reports({&*found, 1});
    co_return found;
}

asio::awaitable<counter_state> look_at(shared_engine home, lock_name name, counter_kind kind) {
    const auto counter = front::make_counter(home, name, {.kind = kind});
    co_return co_await home->counters()->inspect(counter->name, kind);
}

asio::awaitable<lock_list> list_all(shared_engine home, std::string pattern, std::size_t limit) {
    std::string of_store = pattern_at_store(home, std::move(pattern));
    co_return co_await home->operators_view().list(std::move(of_store), limit);
}

asio::awaitable<lock_list> list_active_locks(shared_engine home, inspector::active_query which) {
    inspector& view = home->operators_view();
    if (view.lists_active()) {
        which.prefix = home->how().prefix;
        co_return co_await view.list_active(std::move(which));
    }
    const std::string any = which.text.empty() ? "" : "*";
    co_return co_await list_all(home, any + without_wildcards(which.text) + "*", which.limit);
}

asio::awaitable<counter_list> list_counters(shared_engine home, counter_kind kind,
                                            std::string pattern, std::size_t limit) {
    front::must_offer(*home, kind);
    std::string of_store = pattern_at_store(home, std::move(pattern));
    co_return co_await home->counters()->list(kind, std::move(of_store), limit);
}

asio::awaitable<bool> watch_until_free(shared_engine home, lock_name name, duration timeout) {
    co_return co_await sync::wait_until_free(descriptor_of(home, name), timeout);
}

/// Limits of the time for which the store keeps a wish.
constexpr duration wish_kept_min = std::chrono::seconds{1};
constexpr duration wish_kept_max = std::chrono::hours{24};

asio::awaitable<std::vector<std::string>> ask_owners(shared_engine home, lock_name name,
                                                     std::string reason, duration kept) {
    const lock_name of_store = mapped(home, name);
    if (!home->wishes())
        refuse("this store cannot pass a request on to the holder of a lock; Redis and Valkey can");
    if (reason.size() > wish::reason_bytes_max)
        refuse("the reason has " + std::to_string(reason.size()) + " bytes; the limit is " +
               std::to_string(wish::reason_bytes_max));
    const runtime::self asks = runtime::this_process();
    wish what{std::move(reason), asks.host + ":" + std::to_string(asks.pid)};
    co_return co_await home->wishes()->ask_holders(of_store, std::move(what),
                                                   std::clamp(kept, wish_kept_min, wish_kept_max));
}

asio::awaitable<bool> force(shared_engine home, lock_name name, std::string only_from) {
    const lock_name of_store = mapped(home, name);
    co_return co_await sync::force_through_failover(home, of_store, only_from);
}

} // namespace

std::optional<lock_state> client::inspect(lock_name name, lock_details details) {
    return front::wait_for_query(
        engine_, [home = engine_, name, details] { return describe(home, name, details); });
}

counter_state client::inspect(lock_name name, counter_kind kind) {
    return front::wait_for_query(
        engine_, [home = engine_, name, kind] { return look_at(home, name, kind); });
}

lock_list client::list(std::string pattern, std::size_t limit) {
    return front::wait_for_query(
        engine_, [home = engine_, pattern, limit] { return list_all(home, pattern, limit); });
}

lock_list client::list_active(std::size_t limit, active_order by, std::string text) {
    return front::wait_for_query(engine_, [home = engine_, limit, by, text] {
        return list_active_locks(home, {.limit = limit, .by = by, .text = text});
    });
}

counter_list client::list(counter_kind kind, std::string pattern, std::size_t limit) {
    return front::wait_for_query(engine_, [home = engine_, kind, pattern, limit] {
        return list_counters(home, kind, pattern, limit);
    });
}

bool client::await_free(lock_name name, duration timeout) {
    return front::wait_for(engine_, watch_until_free(engine_, std::move(name), timeout));
}

std::vector<std::string> client::ask_holders(lock_name name, std::string reason, duration kept) {
    return front::wait_for_query(engine_, [home = engine_, name, reason, kept] {
        return ask_owners(home, name, reason, kept);
    });
}

void client::start_ask(
    shared_engine engine, lock_name name, std::string reason, duration kept,
    asio::any_completion_handler<void(error_code, std::vector<std::string>)> handler) {
    front::start(engine, ask_owners(engine, std::move(name), std::move(reason), kept),
                 std::move(handler));
}

bool client::force_unlock(lock_name name, std::string only_from) {
    return front::wait_for(engine_, force(engine_, std::move(name), std::move(only_from)));
}

void client::start_inspect(
    shared_engine engine, lock_name name, lock_details details,
    asio::any_completion_handler<void(error_code, std::optional<lock_state>)> handler) {
    front::start(engine, describe(engine, std::move(name), details), std::move(handler));
}

void client::start_inspect(shared_engine engine, lock_name name, counter_kind kind,
                           asio::any_completion_handler<void(error_code, counter_state)> handler) {
    front::start(engine, look_at(engine, std::move(name), kind), std::move(handler));
}

void client::start_list(shared_engine engine, std::string pattern, std::size_t limit,
                        asio::any_completion_handler<void(error_code, lock_list)> handler) {
    front::start(engine, list_all(engine, std::move(pattern), limit), std::move(handler));
}

void client::start_list(shared_engine engine, counter_kind kind, std::string pattern,
                        std::size_t limit,
                        asio::any_completion_handler<void(error_code, counter_list)> handler) {
    front::start(engine, list_counters(engine, kind, std::move(pattern), limit),
                 std::move(handler));
}

void client::start_wait_free(shared_engine engine, lock_name name, duration timeout,
                             asio::any_completion_handler<void(error_code, bool)> handler) {
    front::start(engine, watch_until_free(engine, std::move(name), timeout), std::move(handler));
}

namespace {

asio::awaitable<diagnosis> examine(std::shared_ptr<sync::engine> home, lock_name trial) {
    const auto lock = front::make_descriptor(home, trial, {});
    ask want{lock->name, home->new_owner_id(), lock->kind};
    want.replicas = lock->replicas;
    want.lease_time = lock->lease;
    want.give_up_at = home->now(); // only one attempt
    diagnosis found;
    found.findings = co_await home->examine(std::move(want));
    co_return found;
}

asio::awaitable<diagnosis> set_up_store(std::shared_ptr<sync::engine> home) {
    diagnosis made;
    made.findings = co_await home->set_up_store();
    if (made.findings.empty())
        refuse("this store needs no set-up: it creates by itself everything that locks need");
    co_return made;
}

} // namespace

diagnosis client::doctor(lock_name trial) {
    return front::wait_for(engine_, examine(engine_, std::move(trial)));
}

void client::start_doctor(std::shared_ptr<sync::engine> engine, lock_name trial,
                          asio::any_completion_handler<void(error_code, diagnosis)> handler) {
    front::start(engine, examine(engine, std::move(trial)), std::move(handler));
}

diagnosis client::set_up() {
    return front::wait_for(engine_, set_up_store(engine_));
}

void client::start_set_up(std::shared_ptr<sync::engine> engine,
                          asio::any_completion_handler<void(error_code, diagnosis)> handler) {
    front::start(engine, set_up_store(engine), std::move(handler));
}

} // namespace holdfast
