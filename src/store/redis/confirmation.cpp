// SPDX-License-Identifier: Apache-2.0
#include "store/redis/confirmation.hpp"

#include "net/failure.hpp"
#include "redis/client/error_replies.hpp"

#include <string>
#include <utility>

namespace holdfast::redis {
namespace {

std::string in_words(const std::string& refusal) {
    const bool is_right = classify(refusal) == store_errc::no_permission;
    return "WAIT, by which replicas confirm it: " +
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
                                " replicas confirmed it in time"
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

} // namespace holdfast::redis
