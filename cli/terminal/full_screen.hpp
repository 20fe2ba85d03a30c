// SPDX-License-Identifier: Apache-2.0
// Full screen of a terminal: draws all lines and reads single keys. `holdfast top` uses it.
#pragma once

#include <holdfast/time.hpp>

#include <csignal>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <termios.h>

namespace cli {

/// Full screen on the terminal of stdin and stdout. While the object exists, the terminal shows its
/// alternate screen, and keys are read one by one without Enter. The destructor restores the
/// terminal. Ctrl-C and the signals that end a program are read as `key::quit`, so that they
/// restore the terminal, too. Ctrl-Z and SIGTSTP restore the terminal while the program is stopped.
/// SIGSTOP cannot do so; but when the program continues, its screen is shown again. There can be
/// only one object at a time.
class full_screen {
public:
    full_screen();
    full_screen(const full_screen&) = delete;
    ~full_screen();

    /// Returns whether stdin and stdout are a terminal that can show a full screen.
    static bool is_possible();

    struct dimensions {
        std::size_t columns, rows;
    };
    dimensions size() const;

    /// Draws the lines. Lines that do not fit are left out, and a long line is cut. The line with
    /// the index `marked` is shown in inverse colours.
    void draw(const std::vector<std::string>& lines, std::optional<std::size_t> marked);

    enum class key {
        none,
        up,
        down,
        page_up,
        page_down,
        enter,
        escape,
        backspace,
        quit,
        character
    };
    struct pressed {
        key which = key::none;
        char letter = 0; ///< set if `which` is `character`
    };

    /// Waits for a key until the given time. Returns `key::none` if no key was pressed until then.
    /// Also returns `key::none` after a call of wake(), after a change of the terminal's size, and
    /// after a stop of the program.
    pressed read_key(holdfast::time_point until);

    /// Makes read_key() return. Thread-safe.
    static void wake() noexcept;

    /// Returns the signal that was read as `key::quit`, or 0.
    int ended_by() const noexcept { return ended_by_; }

private:
    void write(std::string_view);
    void enter();
    void leave();
    void suspend();
    pressed read_wake();
    bool read_typed(int milliseconds);
    pressed next_key();

    int output_ = -1; ///< the terminal, opened so that write() does not block; -1: use stdout
    termios before_{};
    std::string typed_; ///< bytes that were read and not yet used
    int ended_by_ = 0;
    std::map<int, struct sigaction> actions_before_; ///< by the number of the signal
};

} // namespace cli
