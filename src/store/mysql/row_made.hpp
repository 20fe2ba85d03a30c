// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/failure.hpp"
#include "store/mysql/kinds.hpp"
#include "store/mysql/lock_texts.hpp"

namespace holdfast::mysql {

/// Inserts the row of a name that was not used before.
inline asio::awaitable<void> make_lock_row(site& at, const lock_name& name) {
    const auto make = [&](const runtime::remote_clock&, const server_facts&) {
        return std::vector<std::string>{lock_row(at.named, name)};
    };
    composing text{make};
    co_await at.server.run(text);
}

/// Makes an attempt. If the attempt finds no row, inserts the row and repeats the attempt. A sweep
/// may delete the new row before the attempt finds it, so the cycle is repeated a few times.
template <typename Once>
asio::awaitable<taken> with_row_made(site& at, const lock_name& name, Once once) {
    constexpr int attempts_max = 3;
    for (int made = 0;; ++made) {
        taken got = co_await once();
        if (!got.no_row)
            co_return got;
        if (made == attempts_max)
            throw net::failure{store_errc::try_again,
                               "the row of the lock is deleted again and again"};
        co_await make_lock_row(at, name);
    }
}

} // namespace holdfast::mysql
