// SPDX-License-Identifier: Apache-2.0
#include "redis/cluster/redirection.hpp"

#include "redis/cluster/slot.hpp"
#include "redis/wire/classify.hpp"
#include "redis/wire/host.hpp"

#include <charconv>

namespace holdfast::redis {
namespace {

using placed = redirection::kind;
using fate = redirection::outcome;

/// Returns the result for an error that rejects a request before it starts.
redirection not_served() {
    return {.what = placed::pause, .refresh = true, .pause_first = true};
}

/// Reads the slot and the address of a MOVED or ASK error, for example `3999 127.0.0.1:6381`.
redirection to_another(placed what, std::string_view where, std::string_view asked) {
    redirection told{.what = what, .refresh = what == placed::moved};
    const char* const end = where.data() + where.size();
    const auto [behind, failed] = std::from_chars(where.data(), end, told.slot);
    if (failed != std::errc{} || told.slot >= slot_count || behind == end || *behind != ' ')
        return not_served();
    const auto to = read_host_and_port({behind + 1, end}, asked);
    if (!to)
        return not_served();
    told.to = *to;
    return told;
}

} // namespace

redirection read_redirection(std::string_view error, std::string_view asked) {
    const std::size_t blank = error.find(' ');
    const std::string_view first = error.substr(0, blank);
    const std::string_view rest = blank == error.npos ? "" : error.substr(blank + 1);
    if (first == "MOVED")
        return to_another(placed::moved, rest, asked);
    if (first == "ASK")
        return to_another(placed::ask, rest, asked);
    if (asks_for_script(error))
        return {.what = placed::unknown_script};
    if (was_unblocked(error))
        return {.what = placed::demoted, .done = fate::carried_out, .refresh = true, .cut = true};
    if (tells_of_absence(error))
        return {.what = placed::not_here, .done = fate::unknown, .refresh = true};
    switch (classify(error)) {
    case store_errc::read_only:
        return {.what = placed::demoted, .refresh = true, .cut = true};
    case store_errc::master_down:
        return {.what = placed::demoted, .refresh = true, .pause_first = true, .cut = true};
    case store_errc::try_again:
    case store_errc::cluster_down:
    case store_errc::loading:
        return not_served();
    default:
        return {};
    }
}

} // namespace holdfast::redis
