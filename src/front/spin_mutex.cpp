// SPDX-License-Identifier: Apache-2.0
#include "validation.hpp"

#include <holdfast/spin_mutex.hpp>

namespace holdfast {

spin_mutex::spin_mutex(client& home, lock_name name, spin_options how)
    : basic_mutex{home,
                  std::move(name),
                  {.kind = lock_kind::spin,
                   .lease = how.lease,
                   .again = how.again,
                   .deferred = how.deferred,
                   .polls = checked_backoff(how.polls),
                   .replicas = how.required_replicas}} {}

} // namespace holdfast
