// SPDX-License-Identifier: Apache-2.0
// What `holdfast run --slots` and `--rate` ask for.
#pragma once

#include "cli/run/locked_run.hpp"

#include <holdfast/client.hpp>
#include <holdfast/lease.hpp>

#include <optional>
#include <string>

namespace cli {

namespace asio = holdfast::asio;

/// Somebody has set another number than was asked for: both, for people.
struct another_number {
    std::string told;
};

/// One slot of `wanted.slots`, the number that whoever comes first sets. Empty: none was free until
/// the patience was over. Throws `another_number`, and what the store throws.
asio::awaitable<std::optional<holdfast::lease>> take_slot(holdfast::client&,
                                                          const locked_run& wanted);

/// Likewise, one start of `wanted.rate`. False: there was none.
asio::awaitable<bool> draw_start(holdfast::client&, const locked_run& wanted);

/// How it stands there, for people: "3 of 3 slots are taken"; empty if there is nothing.
asio::awaitable<std::string> how_it_stands(holdfast::client&, const locked_run&);

/// `10/1m`: so many starts in any time of that length. Throws `usage_error`.
holdfast::rate parse_rate(const std::string& text);

} // namespace cli
