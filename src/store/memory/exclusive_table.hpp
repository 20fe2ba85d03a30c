// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/memory/server_clock.hpp"
#include "store/remote/attempts.hpp"

#include <holdfast/store.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::memory {

using remote::verdict;

struct verdict_on_look {
    verdict said{};
    /// Rest of the lease of the hold that keeps the lock busy, or of other holds that share it.
    /// Empty: it has no end.
    std::optional<duration> left{};
    std::uint64_t token = 0;     ///< granted, fenced lock: the first of its tokens
    bool queued = false;         ///< busy, and the owner has a place in a queue
    bool joined_now = false;     ///< that place is new
    const char* other = nullptr; ///< words for another kind that has the name
    bool holder_tells = true;    ///< busy: the holder notifies waiters when it releases
};

/// Table of locks that have a single owner and no queue. An expired lock is removed before each
/// access. Thread safety: none; the server's mutex protects it.
class exclusive_table {
public:
    /// The clock must outlive this object.
    explicit exclusive_table(const server_clock& clock)
        : clock_{clock} {}

    /// Takes the lock if it is free. If the owner has it already, it is granted again, and the
    /// lease lasts at least as long as asked for.
    verdict_on_look look(const ask&);
    bool renew(const hold&, duration lease_time); ///< false: that owner does not hold it
    bool release(const hold&);                    ///< false: that owner does not hold it
    /// Returns whether other clients wait for that spin lock. Waiters report themselves with each
    /// request.
    bool others_spin(const hold&) const;
    /// Extends all holds of that owner's client to `end`; shortens none.
    void prolong(const owner_id&, microseconds end);

    std::optional<holding> inspect(const lock_name&) const; ///< empty: it is free
    std::vector<std::string> held() const;                  ///< names, sorted

    /// Gives the lock to `owner`, and takes it from its holder.
    void occupy(const lock_name&, std::string owner, duration lease_time);
    bool erase(const lock_name&); ///< takes it from its holder; false: it was free
    void clear();
    void become(const exclusive_table& other) { ///< expiry times keep their values
        locks_ = other.locks_;
        last_tokens_ = other.last_tokens_;
        spinners_ = other.spinners_;
    }

    /// Returns the token of the present hold. 0: it has none, or it has several, one for each of
    /// its owners in turn.
    std::uint64_t token(const lock_name&) const;
    /// Returns the greatest token that was granted or reserved, also after the lock is gone. 0:
    /// there was none.
    std::uint64_t last_token(const lock_name&) const;

private:
    struct lock {
        std::string owner;
        microseconds ends_at;    ///< microseconds::max(): no end
        std::uint64_t token = 0; ///< see token()
    };

    bool is_over(const lock& l) const { return clock_.is_over(l.ends_at); }
    lock* find(const lock_name&);
    lock* find_of(const hold&);
    std::uint64_t reserve_tokens(const ask&);

    const server_clock& clock_;
    std::map<std::string, lock> locks_;
    std::map<std::string, std::uint64_t> last_tokens_;
    using client = std::array<std::uint8_t, 16>;
    // Time until which each waiter counts, by name and client.
    std::map<std::string, std::map<client, microseconds>> spinners_;
};

} // namespace holdfast::memory
