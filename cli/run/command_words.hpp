// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command_line.hpp"

#include <optional>

namespace cli {

/// Arguments of `holdfast run`, split into its own words and the command. The command is another
/// program and may have options of its own.
struct split_arguments {
    arguments ours;
    std::optional<arguments> command; ///< empty if there is no command
};

/// Splits the arguments. The command begins after the first `--`. Without `--`, it begins with the
/// second word that is neither an option nor an option's value. The first such word is the lock's
/// name.
split_arguments split_at_command(const CLI::App& known, arguments);

} // namespace cli
