// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <utility>

namespace holdfast {

/// A *wish* is a message in which another program asks the holder of a lock to release the lock
/// soon. The holder may end its work early, or ignore the wish. See `client::ask_for()` and
/// `lease::asked()`.
struct wish {
    /// Maximum length of `reason`, in bytes.
    static constexpr std::size_t reason_bytes_max = 1000;

    wish() = default;
    // This type has constructors because of a bug of g++ 12 with aggregates: see store.hpp.
    wish(std::string why, std::string who)
        : reason{std::move(why)}
        , from{std::move(who)} {}

    std::string reason{}; ///< why the program wants the lock, as text for people; may be empty
    std::string from{};   ///< process that asks, as `host:pid`
};

} // namespace holdfast
