// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace cli {

/// Prints `holdfast: <text>` on stderr. It uses one write, so that the lines of several processes
/// do not mix.
void say(std::string_view text);

/// Makes a text safe to print. Replaces control characters, which must not reach a terminal.
/// Shortens the text, because a name may have megabytes.
std::string printable(std::string_view, std::size_t longest = 120);

/// Joins the lines of a text. `printable` would show line ends as `?`, and a text from a server or
/// a log may have several lines.
std::string on_one_line(std::string_view);

/// Exception: the command line is wrong. `main` prints the message and exits with 64.
class usage_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Exception: no server can be asked. The message says why. `main` prints it and exits with 69.
class no_server : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

} // namespace cli
