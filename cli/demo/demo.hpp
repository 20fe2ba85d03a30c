// SPDX-License-Identifier: Apache-2.0
// Parts of `holdfast demo`: its output, the processes that add to a number with and without a lock,
// and the process that waits for the lock of a killed process.
#pragma once

#include "cli/terminal/output.hpp"

#include <holdfast/time.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

/// Output of the demo. On a terminal with 80 columns or more, the output is *live*: tables are
/// redrawn in place, with colours unless NO_COLOR is set. On any other output, for example a pipe,
/// lines are only appended.
class demo_screen {
public:
    demo_screen();
    demo_screen(const demo_screen&) = delete;

    bool is_live() const noexcept { return live_; }

    /// Draws the lines over the lines of the previous call. Call it only if the output is live.
    void show(const std::vector<std::string>& lines);

    /// Leaves the shown lines on the screen. The next lines are printed below them.
    void keep() noexcept { shown_ = 0; }

    std::string good(std::string_view) const;
    std::string bad(std::string_view) const;

private:
    static constexpr std::size_t columns_needed = 80;

    explicit demo_screen(const output_form&);
    std::string tinted(std::string_view code, std::string_view) const;

    const bool live_;
    const bool coloured_;
    std::size_t shown_ = 0; ///< number of lines above the cursor that may be overwritten
};

/// Shows how far each worker is, and how many additions were lost. On a terminal, redraws a table.
/// On any other output, prints a line after each quarter of the work.
class demo_board {
public:
    demo_board(demo_screen&, std::size_t workers, int adds_each, bool locked);

    /// Records that a worker has made `adds` additions so far, and that the file contains `number`
    /// now.
    void advance(std::size_t worker, int adds, long number);

    /// Shows the final state. `number` is the final content of the file.
    void finish(long number);

private:
    void draw();
    void print_quarter();
    std::string state() const;
    int total() const;
    long lost() const;

    demo_screen& screen_;
    const int adds_each_;
    const bool locked_;
    std::vector<int> done_;
    long number_ = 0;
    std::size_t last_ = 0; ///< index of the worker that reported last
    bool finished_ = false;
    int quarters_printed_ = 0;
    holdfast::time_point draw_again_at_{};
};

class inheritance;

struct counting {
    int workers = 4;
    int adds_each = 250;
    std::string lock; ///< name of the lock; empty if the workers use no lock
};

struct counted {
    long number = 0;          ///< number in the file at the end
    bool all_finished = true; ///< false if a worker failed; the worker has printed the reason
};

/// Starts worker processes that add to the same number in the same file. Shows their progress.
/// Waits until all workers have ended.
counted count_with_processes(demo_screen&, const counting&, const inheritance&);

/// Shows how a waiter gets the lock after the holder was killed. Starts a process that takes the
/// lock with a short lease, kills this child, and waits for the lock. Returns the time from the
/// kill until the lock was granted. Returns nothing if the lock was granted before the kill, which
/// would be an error. Throws the errors of the store.
std::optional<holdfast::duration> wait_behind_killed_holder(demo_screen&, const std::string& url,
                                                            const std::string& lock,
                                                            const inheritance&);

} // namespace cli
