// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mysql/line.hpp"

namespace holdfast::mysql {

/// Sets the session variables that the store's statements need. Then reads facts about the server
/// and its clock. Throws `failure`, also if the server must not be used for locks.
asio::awaitable<portrait> set_up(line&, duration keep_alive, time_point limit);

/// Reads the facts and the clock again on an idle connection. This is the keep-alive, and it
/// detects a server that no longer accepts writes. Throws `failure` in the same cases as `set_up`.
asio::awaitable<portrait> look_again(line&, time_point limit);

} // namespace holdfast::mysql
