// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/mysql/site.hpp"

#include <holdfast/counters.hpp>

namespace holdfast::mysql {

/// Carries it out once, if the server comes to it before the deadline; `said` is its outcome then.
asio::awaitable<attempt> change_once(site&, const counter_change&, time_point deadline,
                                     duration memory, counter_answer& said);

} // namespace holdfast::mysql
