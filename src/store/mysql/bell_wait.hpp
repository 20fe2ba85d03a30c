// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/mysql/site.hpp"

#include <holdfast/store.hpp>

#include <memory>

namespace holdfast::mysql {

/// One waiter of one lock in the queue of its bell, on a connection of its own. What comes of it is
/// a ring at most: it is cut, refused, stuck or told nonsense, and the waiter asks the row.
class bell_wait {
public:
    /// Whether the server and the time limit allow it.
    static bool is_of_use(const site&);

    /// Both must outlive it. It begins to wait.
    bell_wait(site&, const lock_name&, alarm& wake);
    bell_wait(const bell_wait&) = delete;
    ~bell_wait(); ///< cuts the connection, unless the bell was handed over

    /// It still waits for the bell, and rings when it comes. False: it has come, or there is no
    /// connection to wait on: then poll.
    bool is_waiting() const noexcept;

    /// The connection that has the bell now: the attempt goes there. Null: it has not come.
    std::shared_ptr<carrier> rung_on() const noexcept;

    /// The hold has it from now on.
    void is_handed_over() noexcept;

private:
    struct state;
    std::shared_ptr<state> state_;
};

} // namespace holdfast::mysql
