// SPDX-License-Identifier: Apache-2.0
#include "cli/run/asked_count.hpp"

#include "cli/count/counter_words.hpp"
#include "cli/terminal/say.hpp"
#include "cli/text/how_many.hpp"

#include <holdfast/leased_semaphore.hpp>
#include <holdfast/rate_limiter.hpp>

#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>

namespace cli {
namespace {

using holdfast::counter_kind;
using holdfast::counter_state;

/// Maximal number of attempts to set the counter and read it. Between set and read, another client
/// may delete the counter.
constexpr int settings_max = 3;

std::string told_of(const holdfast::rate& how) {
    return rate_in_words(how, "start");
}

asio::awaitable<counter_state> state_of(holdfast::client& home, const std::string& name,
                                        counter_kind kind) {
    holdfast::lock_name which{name};
    co_return co_await home.async_inspect(std::move(which), kind, asio::use_awaitable);
}

std::int64_t slots_in(const counter_state& found) {
    return found.value + found.taken;
}

/// Returns whether no slot is held and none can ever become free. This happens if the server lost
/// the set of holders, and with it their slots. Causes are an eviction, or a script that deletes
/// keys.
bool has_lost_its_holders(const counter_state& found) {
    return found.taken == 0 && found.value <= 0;
}

asio::awaitable<void> settle_slots(holdfast::client& home, holdfast::leased_semaphore& slots,
                                   const locked_run& wanted) {
    const std::int64_t number = *wanted.slots;
    for (int i = 0; i < settings_max; ++i) {
        const bool is_new = co_await slots.async_try_set_permits(number, asio::use_awaitable);
        if (is_new)
            co_return;
        const counter_state found = co_await state_of(home, wanted.name, counter_kind::permits);
        if (found.exists && has_lost_its_holders(found)) {
            co_await slots.async_set_permits(number, asio::use_awaitable);
            co_return;
        }
        if (found.exists && slots_in(found) != number)
            throw another_number{"has " + how_many(slots_in(found), "slot") +
                                 ", and --slots says " + std::to_string(number) +
                                 ". To set it anew when nobody needs it: holdfast unlock --force "
                                 "--type permits '" +
                                 printable(wanted.name) + "'"};
        if (found.exists)
            co_return;
    }
    throw another_number{"is set and deleted again and again"};
}

asio::awaitable<void> settle_rate(holdfast::rate_limiter& starts, const locked_run& wanted) {
    for (int i = 0; i < settings_max; ++i) {
        const bool is_new = co_await starts.async_try_set_rate(*wanted.rate, asio::use_awaitable);
        if (is_new)
            co_return;
        const std::optional<holdfast::rate> found =
            co_await starts.async_current_rate(asio::use_awaitable);
        if (found && *found != *wanted.rate)
            throw another_number{"has a rate of " + told_of(*found) + ", and --rate says " +
                                 told_of(*wanted.rate) +
                                 ". To set it anew when nobody needs it: holdfast unlock --force "
                                 "--type rate '" +
                                 printable(wanted.name) + "'"};
        if (found)
            co_return;
    }
    throw another_number{"is set and deleted again and again"};
}

} // namespace

asio::awaitable<std::optional<holdfast::lease>> take_slot(holdfast::client& home,
                                                          const locked_run& wanted) {
    holdfast::leased_options how{.required_replicas = wanted.replicas};
    if (wanted.lease)
        how.lease.emplace(*wanted.lease);
    holdfast::leased_semaphore slots{home, {wanted.name}, how};
    co_await settle_slots(home, slots, wanted);
    co_return co_await slots.async_try_acquire_for(wanted.patience, 1, asio::use_awaitable);
}

asio::awaitable<bool> draw_start(holdfast::client& home, const locked_run& wanted) {
    holdfast::rate_limiter starts{home, {wanted.name}, {.required_replicas = wanted.replicas}};
    co_await settle_rate(starts, wanted);
    co_return co_await starts.async_try_acquire_for(wanted.patience, 1, asio::use_awaitable);
}

asio::awaitable<std::string> how_it_stands(holdfast::client& home, const locked_run& wanted) {
    const counter_kind kind = wanted.slots ? counter_kind::permits : counter_kind::rate;
    const counter_state found = co_await state_of(home, wanted.name, kind);
    if (!found.exists)
        co_return "";
    if (wanted.slots)
        co_return std::to_string(found.taken) + " of " + how_many(slots_in(found), "slot") +
            " are taken";
    co_return std::to_string(found.value) + " of " + told_of(found.of) + " are left";
}

holdfast::rate parse_rate(const std::string& text) {
    const std::string::size_type slash = text.find('/');
    holdfast::rate how;
    const char* const end = text.data() + std::min(slash, text.size());
    const auto parsed = std::from_chars(text.data(), end, how.permits);
    if (slash == std::string::npos || parsed.ec != std::errc{} || parsed.ptr != end ||
        how.permits < 1 || how.permits > holdfast::counted_max)
        throw usage_error{"--rate: '" + printable(text) +
                          "' is no rate; it is a whole number of starts from 1 to " +
                          std::to_string(holdfast::counted_max) +
                          ", a slash and a time, as in 10/1m"};
    constexpr std::chrono::duration<double> longest = std::chrono::hours{24 * 365 * 10};
    const std::chrono::duration<double> per = parse_time("--rate", text.substr(slash + 1));
    if (per < std::chrono::milliseconds{1} || per > longest)
        throw usage_error{"--rate: '" + printable(text) +
                          "': the time after the slash is from 1ms to ten years"};
    how.per = std::chrono::round<holdfast::duration>(per);
    return how;
}

} // namespace cli
