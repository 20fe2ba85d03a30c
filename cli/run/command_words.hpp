// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command_line.hpp"

#include <optional>

namespace cli {

/// Arguments of `holdfast run`, split into the program's own words and the command. The command may
/// have options of its own.
struct split_arguments {
    arguments ours;
    std::optional<arguments> command; ///< empty if there is no command
};

/// Splits the arguments. The command begins after the first `--`. Without `--`, ignore options and
/// their values: the first other word is the lock's name, and the second other word begins the
/// command.
split_arguments split_at_command(const CLI::App& known, arguments);

} // namespace cli
