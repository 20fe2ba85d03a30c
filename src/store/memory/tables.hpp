// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/memory/counter_table.hpp"
#include "store/memory/exclusive_table.hpp"
#include "store/memory/fair_table.hpp"
#include "store/memory/permit_table.hpp"
#include "store/memory/rate_table.hpp"
#include "store/memory/server_clock.hpp"
#include "store/memory/shared_table.hpp"

namespace holdfast::memory {

/// All data of a server. Expiry times are times of the server's clock. A replica gets them
/// unchanged. Thread safety: none; the server's mutex protects it.
struct tables {
    /// The clock must outlive this object.
    explicit tables(const server_clock& clock)
        : locks{clock}
        , fair{clock, locks}
        , shared{clock}
        , tokens{clock}
        , counters{clock}
        , permits{clock}
        , rates{clock} {}
    tables(const tables&) = delete;

    void clear() {
        locks.clear();
        fair.clear();
        shared.clear();
        tokens.clear();
        counters.clear();
        permits.clear();
        rates.clear();
    }

    void become(const tables& other) {
        locks.become(other.locks);
        fair.become(other.fair);
        shared.become(other.shared);
        tokens.become(other.tokens);
        counters.become(other.counters);
        permits.become(other.permits);
        rates.become(other.rates);
    }

    exclusive_table locks;
    fair_table fair;
    shared_table shared;
    exclusive_table tokens; ///< token locks, which are strings; other locks are hashes
    counter_table counters; ///< semaphores and latches
    permit_table permits;
    rate_table rates;
};

} // namespace holdfast::memory
