// SPDX-License-Identifier: Apache-2.0
#include "store/redis/replies.hpp"

#include "net/failure.hpp"
#include "redis/client/error_replies.hpp"
#include "store/redis/names.hpp"

namespace holdfast::redis {
namespace {

std::string in_words(const std::string& refusal) {
    const bool is_right = classify(refusal) == store_errc::no_permission;
    return "the server refuses the command WAIT, so replicas cannot confirm the write: " +
           with_missing_right(refusal, is_right ? "+wait" : "");
}

} // namespace

void came_by(const reply& answer, remote::attempt& got) {
    got.sent_at = answer.sent_at;
    got.received_at = answer.received_at;
    got.clock = answer.clock;
    got.heard_late = answer.moves;
    got.confirmed = answer.confirmed;
    got.unconfirmed = answer.confirmation_refused;
}

confirmation judge_confirmation(remote::attempt& got, std::uint8_t replicas) {
    const std::string refusal = std::exchange(got.unconfirmed, {});
    if (got.confirmed >= replicas)
        return confirmation::enough;
    got.unconfirmed = refusal.empty()
                          ? std::to_string(got.confirmed) + " of " + std::to_string(replicas) +
                                " replicas confirmed the write in time"
                          : in_words(refusal);
    const bool is_final = !refusal.empty() && !was_unblocked(refusal) &&
                          make_error_code(classify(refusal)) == errc::refused;
    return is_final ? confirmation::refused : confirmation::missing;
}

void require_confirmed(remote::attempt got, std::uint8_t replicas) {
    if (judge_confirmation(got, replicas) != confirmation::enough)
        throw net::failure{store_errc::not_replicated, got.unconfirmed};
}

void fail_refused(const remote::attempt& got, const std::string& refusal, bool was_left) {
    throw net::failure{was_left ? classify(refusal) : store_errc::not_replicated, got.unconfirmed};
}

namespace {

/// Returns the channel on which a release notifies the waiters. For a fair lock, the result is a
/// pattern, because each waiter has its own channel.
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

void missing_permissions::note(const hold& asked, const attempt& got) {
    if (got.server_now != std::chrono::microseconds::zero() || std::exchange(time_told_, true))
        return;
    tell(asked.name, std::string{late_without_time} + " (to be granted: +time)");
}

void missing_permissions::note(const hold& held, const released& outcome) {
    if (!outcome.denied_message || std::exchange(publish_told_, true))
        return;
    const publishing way = server_.telling_commands();
    tell(held.name, std::string{way.other.empty() ? way.command : "PUBLISH or SPUBLISH"} +
                        " is denied. " + no_wake_without_publish +
                        " (to be granted: " + rights_to_tell(way, channels_of(held)) + ")");
}

void missing_permissions::tell(const lock_name& name, std::string_view text) const {
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
