// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mysql/line.hpp"

namespace holdfast::mysql {

/// Makes the session one in which the store's statements mean what they say, finds out who is
/// there, and teaches the line's clock. Throws `failure`, also where no lock may be asked for.
asio::awaitable<portrait> set_up(line&, duration keep_alive, time_point limit);

/// Asks again, of a line that was idle: it is used, its clock is read, and a server that takes no
/// writes any more is noticed. Throws likewise.
asio::awaitable<portrait> look_again(line&, time_point limit);

} // namespace holdfast::mysql
