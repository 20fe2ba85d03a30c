// SPDX-License-Identifier: Apache-2.0
// What a failover must not lose counts only when enough replicas have it.
#pragma once

#include "redis/node.hpp"
#include "store/remote/attempts.hpp"

#include <boost/system/system_error.hpp>

#include <algorithm>
#include <cstdint>
#include <string>

namespace holdfast::redis {

/// So that it is confirmed in a small part of a lease of that length.
inline call_wishes confirmed_by(std::uint8_t replicas, duration lease) {
    return {.replicas = replicas, .replicas_within = std::max(lease / 3, duration{1})};
}

/// How the answer came: when, by which connection, and who confirmed what it tells of.
void came_by(const reply&, remote::attempt&);

/// Whether fewer confirmed it than must; then `unconfirmed` says so in words.
enum class confirmation { enough, missing, refused };
confirmation judge_confirmation(remote::attempt&, std::uint8_t replicas);

/// What was carried out and is not confirmed fails so.
void require_confirmed(remote::attempt, std::uint8_t replicas);

/// An attempt that was granted and that the server refuses to have confirmed, in its own words: no
/// repetition helps.
[[noreturn]] void fail_refused(const remote::attempt&, const std::string& refusal, bool was_left);

/// Judges what was granted. Where the server refuses to say how many replicas have it, it is left
/// again, and only when that is acknowledged the attempt is `refused`.
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
