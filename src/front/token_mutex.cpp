// SPDX-License-Identifier: Apache-2.0
#include <holdfast/token_mutex.hpp>

namespace holdfast {

token_mutex::token_mutex(client& home, lock_name name, token_options how)
    : basic_mutex{home,
                  std::move(name),
                  {.kind = lock_kind::token,
                   .lease = how.lease,
                   .again = how.again,
                   .deferred = how.deferred,
                   .replicas = how.required_replicas}} {}

} // namespace holdfast
