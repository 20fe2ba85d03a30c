// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mysql/line.hpp"

namespace holdfast::mysql {

/// Sets the session variables that the store's statements need, reads facts about the server, and
/// reads the server's clock. Throws `failure`, also if the server may not be used for locks.
asio::awaitable<portrait> set_up(line&, duration keep_alive, time_point limit);

/// Reads the facts and the clock again on an idle connection. This serves as a keep-alive, and it
/// finds a server that has stopped accepting writes. Throws `failure` like `set_up`.
asio::awaitable<portrait> look_again(line&, time_point limit);

} // namespace holdfast::mysql
