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

/// Parses the arguments with the options that CLI11 was told to expect. Returns false if help was
/// asked for and has been printed. Throws `usage_error` for every mistake except surplus words,
/// which the verb checks itself.
bool parse(CLI::App&, arguments, std::string_view help);

/// Throws `usage_error` if the verb has no use for one of the words.
void reject_surplus(const CLI::App&);

/// Parses a length of time: `1.5`, `30s`, `500ms`, `2m`, `1h` or `1d`. A bare number means seconds.
/// Throws `usage_error`, with the option's name in the message.
std::chrono::duration<double> parse_time(std::string_view option, std::string_view text);

/// Tells CLI11 to expect an option whose value is a length of time. `parse` throws `usage_error`
/// for any other value, before the verb looks for missing words. So `-w job` is reported as a wrong
/// time, not as a missing NAME.
void expect_time(CLI::App&, const std::string& names, std::string_view option,
                 std::optional<std::chrono::duration<double>>& into);

/// Tells CLI11 to expect an option whose value is a whole number within these bounds. `parse`
/// throws `usage_error` for any other value.
void expect_number(CLI::App&, const std::string& names, std::string_view option,
                   std::uint64_t least, std::uint64_t most,
                   std::function<void(std::uint64_t)> take);

/// Throws `usage_error` if NAME is missing or empty. `form` is the end of the message.
void require_name(const CLI::App&, const std::string& name, const std::string& what,
                  const std::string& form);

/// Tells CLI11 to expect `--replicas N`.
void expect_replicas(CLI::App&, std::optional<unsigned>& into);

} // namespace cli
