// SPDX-License-Identifier: Apache-2.0
// Confirmation by replicas. A grant that must survive a failover counts only if enough replicas
// have it.
#pragma once

#include "redis/node.hpp"
#include "store/remote/attempts.hpp"

#include <boost/system/system_error.hpp>

#include <algorithm>
#include <cstdint>
#include <string>

namespace holdfast::redis {

/// Returns the options of a request that replicas must confirm. The wait for the replicas is at
/// most a third of the lease.
inline call_wishes confirmed_by(std::uint8_t replicas, duration lease) {
    return {.replicas = replicas, .replicas_within = std::max(lease / 3, duration{1})};
}

/// Copies from the reply to the attempt: its times, its connection's clock, and the number of
/// replicas that confirmed the write.
void came_by(const reply&, remote::attempt&);

/// Returns whether enough replicas confirmed the attempt. If not, sets `unconfirmed` to the reason
/// in words. `refused`: the server refuses WAIT, so a retry does not help.
enum class confirmation { enough, missing, refused };
confirmation judge_confirmation(remote::attempt&, std::uint8_t replicas);

/// Throws `not_replicated` if too few replicas confirmed the change. The change was carried out all
/// the same.
void require_confirmed(remote::attempt, std::uint8_t replicas);

/// Throws the error for a grant that cannot be confirmed because the server refuses WAIT.
/// `was_left` tells whether the grant was released again. If it was, the error code is the meaning
/// of the server's refusal; a retry does not help. If it was not, the error code is
/// `not_replicated`.
[[noreturn]] void fail_refused(const remote::attempt&, const std::string& refusal, bool was_left);

/// Checks the confirmation of a grant. If the server refuses WAIT, calls `leave` to release the
/// grant. Then throws `refused` if the release was acknowledged, otherwise `not_replicated`.
template <typename Leave>
asio::awaitable<void> confirm(remote::attempt& got, std::uint8_t replicas, Leave leave) {
    if (got.said != remote::verdict::granted)
        co_return;
    const std::string refusal = got.unconfirmed;
    if (judge_confirmation(got, replicas) != confirmation::refused)
        co_return;
    bool left = true;
    try {
        co_await leave();
    } catch (const boost::system::system_error&) {
        left = false;
    }
    fail_refused(got, refusal, left);
}

} // namespace holdfast::redis
