// SPDX-License-Identifier: Apache-2.0
// Who believed to hold a lock, and when: judged together afterwards.
#pragma once

#include <holdfast/holdfast.hpp>

#include <boost/asio/use_future.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace holdfast::mysql {

/// A hold as its owner believed it.
struct claim {
    std::chrono::steady_clock::time_point from, to;
    std::uint64_t token = 0;
    bool shared = false;
};

using claims = std::vector<claim>;

/// Takes by `take`, which returns a future of an optional lease, and releases until it is `over`.
template <typename Take>
claims take_and_release(const std::atomic<bool>& over, Take take, bool shared = false) {
    claims all;
    while (!over) {
        std::optional<lease> held;
        try {
            held = take().get();
        } catch (const boost::system::system_error&) {
            continue; // unreachable, or not known: nothing is claimed
        }
        if (!held || !held->owns_lock())
            continue;
        const auto from = std::chrono::steady_clock::now();
        std::this_thread::yield();
        const auto to = std::chrono::steady_clock::now();
        if (held->owns_lock())
            all.push_back({from, to, held->fencing_token(), shared});
        error_code ec;
        held->unlock(ec);
    }
    return all;
}

/// No two overlap of which one is not shared.
inline void expect_no_overlap(claims all) {
    std::ranges::sort(all, {}, &claim::from);
    for (std::size_t i = 0; i < all.size(); ++i)
        for (std::size_t next = i + 1; next < all.size() && all[next].from < all[i].to; ++next)
            EXPECT_TRUE(all[i].shared && all[next].shared) << "two held it at once";
}

/// In the order in which they were held, each is greater than the one before.
inline void expect_tokens_grow(claims all) {
    std::ranges::sort(all, {}, &claim::from);
    for (std::size_t i = 1; i < all.size(); ++i)
        EXPECT_LT(all[i - 1].token, all[i].token);
}

} // namespace holdfast::mysql
