// SPDX-License-Identifier: Apache-2.0
#include "cli/run/on_loss.hpp"

#include "cli/command_line.hpp"
#include "cli/terminal/say.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace cli {
namespace {

struct named_signal {
    std::string_view name;
    int number;
};

/// Signals that ask or force a program to end. Other signals are refused. For example, STOP would
/// only hide the loss from the command.
constexpr std::array<named_signal, 8> ending_signals{{
    {"TERM", SIGTERM},
    {"INT", SIGINT},
    {"HUP", SIGHUP},
    {"QUIT", SIGQUIT},
    {"USR1", SIGUSR1},
    {"USR2", SIGUSR2},
    {"ABRT", SIGABRT},
    {"KILL", SIGKILL},
}};

int parse_signal(std::string_view text) {
    const std::string_view name = text.starts_with("SIG") ? text.substr(3) : text;
    const auto found = std::ranges::find_if(ending_signals, [&](const named_signal& each) {
        return each.name == name || std::to_string(each.number) == text;
    });
    if (found != ending_signals.end())
        return found->number;
    std::string allowed;
    for (const named_signal& each : ending_signals)
        allowed.append(allowed.empty() ? "" : ", ").append(each.name);
    throw usage_error{"--on-loss: '" + printable(text) + "' is no signal for this; give one of " +
                      allowed + " (or SIGTERM and so on, or its number)"};
}

} // namespace

std::optional<holdfast::duration> grace_of(const on_loss& how) {
    if (!how.grace)
        return std::nullopt;
    constexpr std::chrono::duration<double> longest = std::chrono::hours{24};
    return std::chrono::ceil<holdfast::duration>(std::min(*how.grace, longest));
}

on_loss parse_on_loss(std::string_view text) {
    const std::size_t colon = text.find(':');
    on_loss wanted{.signal = parse_signal(text.substr(0, colon))};
    if (colon != text.npos)
        wanted.grace = parse_time("--on-loss", text.substr(colon + 1));
    return wanted;
}

} // namespace cli
