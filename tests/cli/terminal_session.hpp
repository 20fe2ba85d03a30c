// SPDX-License-Identifier: Apache-2.0
// A simulated user at a terminal: a pseudo-terminal, and a command that runs in a session on it.
#pragma once

#include "cli/program.hpp"

#include <string>
#include <vector>

namespace holdfast::cli_test {

inline const std::string ctrl_c = "\x03";
inline const std::string ctrl_z = "\x1a";

/// Number of columns and rows of a terminal.
struct terminal_size {
    unsigned short columns = 80, rows = 24;
};

/// Killed with all in its session if it still runs when this object goes.
class terminal_session {
public:
    /// The variables are `NAME=value`.
    terminal_session(std::vector<std::string> command, std::vector<std::string> variables,
                     terminal_size = {});
    terminal_session(const terminal_session&) = delete;
    ~terminal_session();

    void type(const std::string& keys);
    void resize(terminal_size);

    /// Waits until this appears, and takes all before it and itself away; what was before it.
    /// Throws `too_late` with what was there instead.
    std::string expect(const std::string& text);

    /// Returns whether the terminal takes no more output, because nobody has read what it shows.
    bool is_full() const;

    pid_t id() const { return id_; }
    pid_t foreground() const; ///< the process group that the terminal listens to
    int end();                ///< its exit status, 128 + n for signal n

private:
    void read_some();

    int terminal_ = -1;
    pid_t id_ = -1;
    std::string screen_; ///< what was shown, as bytes
};

} // namespace holdfast::cli_test
