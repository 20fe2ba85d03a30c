// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/store.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <unordered_map>

namespace holdfast::redis {

/// For how long this client's places in the queues of fair locks last without a look. A JVM whose
/// clock is ahead takes living waiters out of a queue; then they last longer, up to what JVMs wait.
class fair_patience {
public:
    /// The context must outlive it.
    fair_patience(const store_context& context, duration longest)
        : context_{context}
        , longest_{std::min<duration>(longest, std::chrono::hours{1})} {}

    duration of(const ask&) const;

    /// A place was found missing; `in_time`: its owner had looked after it. Tells the observer.
    void lost(const ask&, bool in_time);

private:
    /// Names whose places last longer; for ever this cannot grow.
    static constexpr std::size_t names_max = 1000;

    const store_context& context_;
    const duration longest_; // an hour at most, as of what users may ask for
    std::unordered_map<std::string, duration> longer_; // by name
};

} // namespace holdfast::redis
