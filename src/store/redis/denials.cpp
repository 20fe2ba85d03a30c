// SPDX-License-Identifier: Apache-2.0
#include "store/redis/denials.hpp"

#include "store/redis/names.hpp"

#include <holdfast/error.hpp>

#include <string>
#include <utility>

namespace holdfast::redis {
namespace {

/// Returns the channel of releases. For a fair lock returns a pattern instead, because each waiter
/// of a fair lock has its own channel.
channel_name channels_of(const hold& held) {
    return held.kind == lock_kind::fair ? channel_name{lock_channel(held.name).text + ":*"}
                                        : verbs_of(held.kind)->told_on(held);
}

std::string right_to(std::string_view command) {
    std::string right = "+";
    for (const char each : command)
        right += static_cast<char>(each - 'A' + 'a');
    return right + " ";
}

} // namespace

std::string rights_to_tell(const publishing& way, const channel_name& where) {
    return right_to(way.command) + (way.other.empty() ? "" : right_to(way.other)) + "&" +
           where.text;
}

void denials::note(const hold& asked, const attempt& got) {
    if (got.server_now != std::chrono::microseconds::zero() || std::exchange(time_told_, true))
        return;
    tell(asked.name, "TIME is denied: what the server carries out late can take a lock for nobody, "
                     "until its lease ends (to be granted: +time)");
}

void denials::note(const hold& held, const released& outcome) {
    if (!outcome.denied_message || std::exchange(publish_told_, true))
        return;
    const publishing way = server_.telling_commands();
    tell(held.name, std::string{way.other.empty() ? way.command : "PUBLISH or SPUBLISH"} +
                        " is denied: a release wakes nobody, and waiters find a free lock only "
                        "when they ask by themselves (to be granted: " +
                        rights_to_tell(way, channels_of(held)) + ")");
}

void denials::tell(const lock_name& name, std::string_view text) const {
    if (!context_.tell)
        return;
    context_.tell({.kind = event_kind::impaired,
                   .cause = event_cause::failed,
                   .name = name.text.data(),
                   .name_size = name.text.size(),
                   .code = static_cast<std::int32_t>(errc::refused),
                   .text = text.data(),
                   .text_size = text.size()});
}

} // namespace holdfast::redis
