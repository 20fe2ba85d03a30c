// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace cli {

/// A line for people, on stderr: `holdfast: <text>`. Written at once, so that the lines of several
/// processes do not mix.
void say(std::string_view text);

/// The text as it can be shown: control characters of a name must not reach a terminal, nor the
/// megabytes that a name may have.
std::string printable(std::string_view, std::size_t longest = 120);

/// The same on one line: what a server or a log said may have several, and `printable` would show
/// their ends as `?`.
std::string on_one_line(std::string_view);

/// The command line is wrong. `main` says so, and where the help is, and ends with 64.
class usage_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// There is no server to ask, and why. `main` says so and ends with 69.
class no_server : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

} // namespace cli
