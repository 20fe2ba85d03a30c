// SPDX-License-Identifier: Apache-2.0
// Output of the program: messages on stderr, texts that are safe to print, and tables on stdout.
#pragma once

#include <holdfast/time.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <iosfwd>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

/// Prints `holdfast: <text>` on stderr with one write(), so that the lines of several processes do
/// not mix.
void say(std::string_view text);

/// Makes a text safe to print on a terminal: replaces control characters, and cuts the text at
/// `longest`, because a name may have megabytes.
std::string printable(std::string_view, std::size_t longest = 120);

/// Joins the lines of a text, for example of a server's log. Without this, `printable` would show
/// the line ends as `?`.
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

class inheritance;

/// Properties of stdout or stderr.
struct output_form {
    std::size_t columns; ///< width of the terminal; no limit if it is not a terminal
    bool live;           ///< true: it is a terminal on which a line can be overwritten
    bool colours;        ///< true: `live` is true, and NO_COLOR does not forbid colours
};
output_form form_of(int descriptor);

/// Overwrites the current line of the terminal on stderr with the text. An empty text removes the
/// line.
void draw_line(std::string_view text);

/// Line on stderr that says what the program waits for, and for how long already. The destructor
/// removes the line. Nothing is drawn if stderr is not a terminal, or while this job is in the
/// background.
class waiting_line {
public:
    /// `thing` is what the program waits for, for example `lock 'job'`.
    explicit waiting_line(std::string thing);
    waiting_line(const waiting_line&) = delete;
    ~waiting_line();

    bool is_live() const noexcept { return live_; }
    void draw();
    void clear(); ///< removes the line, before another output

private:
    const std::string thing_;
    const bool live_;
    bool drawn_ = false;
    const holdfast::time_point since_ = holdfast::boot_clock::now();
};

/// Calls `wait` and returns its result. During the call, a thread draws a `waiting_line` once a
/// second if stderr is a terminal.
bool wait_visibly(const std::string& thing, const std::function<bool()>& wait);

/// Makes this program end silently when the reader of its output has ended, as in `holdfast ls |
/// head`. Do not call it in a program that holds a lock.
void end_with_reader(const inheritance&);

/// Flushes stdout. Returns `status`, or `unwritten` if the output failed.
int after_output(int status);

/// Table with column titles. Each column is as wide as its widest cell. If the table is too wide,
/// the left columns are cut first, because the right ones are more important. A text in the first
/// column is cut in its middle. `?` replaces characters that cannot be shown.
class table {
public:
    struct column {
        std::string title;
        std::size_t least = 0; ///< smallest width after a cut; 0: never cut
    };

    explicit table(std::vector<column> columns)
        : columns_{std::move(columns)} {}

    /// Adds a row. The row must have one cell for each column.
    void add(std::vector<std::string> cells);

    /// Returns whether a cell of the first column was cut.
    bool print(std::ostream&, const output_form&) const;

private:
    std::vector<std::size_t> widths(std::size_t at_most) const;

    std::vector<column> columns_;
    std::vector<std::vector<std::string>> lines_;
};

} // namespace cli
