// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command_line.hpp"

#include <optional>

namespace cli {

/// What `holdfast run` reads itself, and the command: that is another program's, and may have
/// options of its own.
struct split_arguments {
    arguments ours;
    std::optional<arguments> command; ///< nothing: there is none
};

/// The command begins behind the first `--`, or where there is none before it, with the second word
/// that is no option and no option's value: the first one is the lock's name.
split_arguments split_at_command(const CLI::App& known, arguments);

} // namespace cli
