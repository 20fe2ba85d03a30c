// SPDX-License-Identifier: Apache-2.0
// Functions that the command lines of all verbs share.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
} // namespace CLI

namespace cli {

using arguments = std::vector<std::string>;

/// Parses the arguments. Accepts the options that were registered with CLI11. Returns false if the
/// user asked for help, after printing the help. Throws `usage_error` for every mistake except
/// surplus words. The verb checks surplus words itself.
bool parse(CLI::App&, arguments, std::string_view help);

/// Throws `usage_error` if a word was given that the verb does not use.
void reject_surplus(const CLI::App&);

/// Parses a duration: `1.5`, `30s`, `500ms`, `2m`, `1h` or `1d`. A bare number means seconds.
/// Throws `usage_error`, with the option's name in the message.
std::chrono::duration<double> parse_time(std::string_view option, std::string_view text);

/// Registers an option with a duration as its value. For any other value, `parse` throws
/// `usage_error` before the verb looks for missing words. So `-w job` is reported as a wrong
/// duration, not as a missing NAME.
void expect_time(CLI::App&, const std::string& names, std::string_view option,
                 std::optional<std::chrono::duration<double>>& into);

/// Registers an option with a whole number as its value. For a value that is no number or is out of
/// bounds, `parse` throws `usage_error`.
void expect_number(CLI::App&, const std::string& names, std::string_view option,
                   std::uint64_t least, std::uint64_t most,
                   std::function<void(std::uint64_t)> take);

/// Throws `usage_error` if NAME is missing or empty. `form` is appended to the message.
void require_name(const CLI::App&, const std::string& name, const std::string& what,
                  const std::string& form);

/// Registers the option `--replicas N`.
void expect_replicas(CLI::App&, std::optional<unsigned>& into);

} // namespace cli
