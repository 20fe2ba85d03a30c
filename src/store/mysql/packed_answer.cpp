// SPDX-License-Identifier: Apache-2.0
#include "store/mysql/packed_answer.hpp"

#include <holdfast/counters.hpp>
#include <holdfast/store.hpp>

namespace holdfast::mysql {
namespace {

remote::verdict verdict_for(std::uint64_t reason) {
    switch (reason) {
    case late_reason:
        return remote::verdict::late;
    case conflict_reason:
        return remote::verdict::conflict;
    case unfounded_reason:
        return remote::verdict::unfounded;
    default:
        return remote::verdict::busy;
    }
}

} // namespace

const char* other_kind_for(std::uint64_t reason) noexcept {
    switch (reason) {
    case mutex_reason:
        return words_for(lock_kind::plain);
    case shared_reason:
        return words_for(lock_kind::read);
    case permits_reason:
        return words_for(counter_kind::permits);
    case latch_reason:
        return words_for(counter_kind::latch);
    default:
        return nullptr;
    }
}

packed_answer taken_apart(std::uint64_t insert_id) {
    packed_answer all;
    all.no_row = insert_id == 0;
    if (insert_id < refused_bit) {
        all.said = all.no_row ? remote::verdict::busy : remote::verdict::granted;
        all.last_token = insert_id & ~bell_bit;
        all.has_bell = (insert_id & bell_bit) != 0;
        return all;
    }
    const std::uint64_t rest = insert_id - refused_bit;
    const std::uint64_t reason = rest & ((std::uint64_t{1} << reason_bits) - 1);
    all.said = verdict_for(reason);
    all.other_kind = other_kind_for(reason);
    all.server_now = std::chrono::milliseconds{rest >> reason_bits};
    if (all.said == remote::verdict::busy && reason < longest_left)
        all.left = duration{static_cast<duration::rep>(reason)};
    return all;
}

} // namespace holdfast::mysql
