// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace cli {

/// Prints `holdfast: <text>` on stderr, in one write so that the lines of several processes do not
/// mix.
void say(std::string_view text);

/// Makes a text safe to print: replaces control characters, which must not reach a terminal, and
/// shortens it, because a name may have megabytes.
std::string printable(std::string_view, std::size_t longest = 120);

/// Joins the lines of a text. A text from a server or a log may have several lines, and `printable`
/// would show the line ends as `?`.
std::string on_one_line(std::string_view);

/// Exception: the command line is wrong. `main` prints the message and ends with 64.
class usage_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Exception: there is no server to ask; the text says why. `main` prints it and ends with 69.
class no_server : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

} // namespace cli
