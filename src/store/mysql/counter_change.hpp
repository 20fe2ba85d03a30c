// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/mysql/site.hpp"

#include <holdfast/counters.hpp>

namespace holdfast::mysql {

/// Makes one attempt to carry out the change before the deadline. Stores the outcome in `said` if
/// the attempt was in time.
asio::awaitable<attempt> change_once(site&, const counter_change&, time_point deadline,
                                     duration memory, counter_answer& said);

} // namespace holdfast::mysql
