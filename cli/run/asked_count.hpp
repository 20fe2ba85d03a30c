// SPDX-License-Identifier: Apache-2.0
// Takes a slot or a start for the options `--slots` and `--rate` of `holdfast run`.
#pragma once

#include "cli/run/locked_run.hpp"

#include <holdfast/client.hpp>
#include <holdfast/lease.hpp>

#include <optional>
#include <string>

namespace cli {

namespace asio = holdfast::asio;

/// Exception: the counter exists with another number than the user asked for. `told` names both
/// numbers.
struct another_number {
    std::string told;
};

/// Takes one slot. If the counter does not exist, it is created with `wanted.slots` slots. Returns
/// nothing if no slot became free before the timeout. Throws `another_number`, and the errors of
/// the store.
asio::awaitable<std::optional<holdfast::lease>> take_slot(holdfast::client&,
                                                          const locked_run& wanted);

/// Takes one start of `wanted.rate`. Returns false if no start became free before the timeout.
/// Throws `another_number`, and the errors of the store.
asio::awaitable<bool> draw_start(holdfast::client&, const locked_run& wanted);

/// Describes the state of the counter, for example "3 of 3 slots are taken". Returns an empty text
/// if the counter does not exist.
asio::awaitable<std::string> how_it_stands(holdfast::client&, const locked_run&);

/// Parses a rate: `10/1m` means ten starts in any minute. Throws `usage_error`.
holdfast::rate parse_rate(const std::string& text);

} // namespace cli
