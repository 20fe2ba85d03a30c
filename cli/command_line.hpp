// SPDX-License-Identifier: Apache-2.0
// What the verbs' command lines have in common.
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

/// Parses what CLI11 was told to expect. False: help was asked for, and has been printed. Throws
/// `usage_error` for anything wrong but surplus words, which the verb knows better.
bool parse(CLI::App&, arguments, std::string_view help);

/// Throws `usage_error` for a word that the verb has no use for.
void reject_surplus(const CLI::App&);

/// `1.5`, `30s`, `500ms`, `2m`, `1h`, `1d`; a bare number means seconds. Throws `usage_error`,
/// which names the option.
std::chrono::duration<double> parse_time(std::string_view option, std::string_view text);

/// Tells CLI11 of an option whose value is a length of time. `parse` throws `usage_error` for one
/// that is none, before the verb looks for anything that is missing: `-w job` has taken the name.
void expect_time(CLI::App&, const std::string& names, std::string_view option,
                 std::optional<std::chrono::duration<double>>& into);

/// Tells CLI11 of an option whose value is a whole number within these bounds. `parse` throws
/// `usage_error` for any other value.
void expect_number(CLI::App&, const std::string& names, std::string_view option,
                   std::uint64_t least, std::uint64_t most,
                   std::function<void(std::uint64_t)> take);

/// Throws `usage_error` for a NAME that is missing or empty. `form`: what else is said.
void require_name(const CLI::App&, const std::string& name, const std::string& what,
                  const std::string& form);

/// Tells CLI11 of `--replicas N`.
void expect_replicas(CLI::App&, std::optional<unsigned>& into);

} // namespace cli
