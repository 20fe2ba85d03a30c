// SPDX-License-Identifier: Apache-2.0
// What the verbs' command lines have in common.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
} // namespace CLI

namespace cli {

using arguments = std::vector<std::string>;

/// The arguments before the first `--`, and those after it if there is one. The latter are another
/// program's, which may have a `--` of its own.
struct split_arguments {
    arguments ours;
    std::optional<arguments> command;
};
split_arguments split_at_dashes(arguments);

/// Parses what CLI11 was told to expect. False: help was asked for, and has been printed. Throws
/// `usage_error` for anything wrong but surplus words, which the verb knows better.
bool parse(CLI::App&, arguments, std::string_view help);

/// Throws `usage_error` for a word that the verb has no use for.
void reject_surplus(const CLI::App&);

/// `1.5`, `30s`, `500ms`, `2m`, `1h`; a bare number means seconds. Throws `usage_error`, which
/// names the option.
std::chrono::duration<double> parse_time(std::string_view option, std::string_view text);

/// Where the locks are: what --url or else HOLDFAST_URL says, or else the private server, which is
/// started if need be. Throws `usage_error`, `no_server`.
std::string server_url(const std::optional<std::string>& option);

/// The same without its password, for messages.
std::string without_password(std::string url);

} // namespace cli
