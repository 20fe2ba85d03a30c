// SPDX-License-Identifier: Apache-2.0
#include "store/redis/fair_patience.hpp"

#include <holdfast/error.hpp>

#include <algorithm>
#include <string_view>

namespace holdfast::redis {

duration fair_patience::of(const ask& want) const {
    const auto found = longer_.find(want.name.text);
    return found == longer_.end() ? want.outlasts : std::max(want.outlasts, found->second);
}

void fair_patience::lost(const ask& want, bool in_time) {
    std::string_view text =
        "its place in the queue of a fair lock is lost: it was not prolonged for longer than its "
        "waiter_patience, as the server was out of reach or full; it goes on from the end";
    if (in_time) {
        text =
            "its place in the queue of a fair lock was taken away, although it had looked in time: "
            "the server forgot it, or a JVM's clock is ahead by more than waiter_patience; it "
            "goes on from the end, and its places there last twice as long from now on";
        if (longer_.size() >= names_max)
            longer_.clear();
        longer_[want.name.text] = std::max(want.outlasts, std::min(2 * of(want), longest_));
    }
    if (context_.tell)
        context_.tell({.kind = event_kind::impaired,
                       .cause = event_cause::failed,
                       .name = want.name.text.data(),
                       .name_size = want.name.text.size(),
                       .text = text.data(),
                       .text_size = text.size()});
}

} // namespace holdfast::redis
