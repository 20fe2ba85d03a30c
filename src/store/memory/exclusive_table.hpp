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
    /// Remaining lease of the hold that keeps the lock busy, or of the other holds that share the
    /// lock. Empty: no expiry.
    std::optional<duration> left{};
    std::uint64_t token = 0;     ///< first token of the grant, if a fenced lock is granted
    bool queued = false;         ///< the lock is busy, and the owner is in the queue
    bool joined_now = false;     ///< the owner joined the queue with this request
    const char* other = nullptr; ///< words for the other kind that uses the name; null: none
    bool holder_tells = true;    ///< if busy: the holder notifies waiters when it releases
};

/// Table of locks with a single owner and no queue. An expired lock is removed before each access.
/// Thread safety: none; the server's mutex protects it.
class exclusive_table {
public:
    /// The clock must outlive this object.
    explicit exclusive_table(const server_clock& clock)
        : clock_{clock} {}

    /// Takes the lock if it is free. An owner that already has the lock gets it again. Its lease
    /// then lasts at least `want.lease_time` from now.
    verdict_on_look look(const ask&);
    bool renew(const hold&, duration lease_time); ///< false: this owner does not hold the lock
    bool release(const hold&);                    ///< false: this owner does not hold the lock
    /// Returns whether other clients wait for this spin lock. Each request of a waiter tells the
    /// server that the client waits.
    bool others_spin(const hold&) const;
    /// Extends all holds of the owner's client to `end`. Shortens no hold.
    void prolong(const owner_id&, microseconds end);

    /// state of the lock; empty: the lock is free
    std::optional<holding> inspect(const lock_name&) const;
    std::vector<std::string> held() const; ///< names of the held locks, sorted

    /// Takes the lock away from its holder, and gives it to `owner`.
    void occupy(const lock_name&, std::string owner, duration lease_time);
    bool erase(const lock_name&); ///< takes the lock away from its holder; false: it was free
    void clear();
    /// copies the other table; expiry times keep their values
    void become(const exclusive_table& other) {
        locks_ = other.locks_;
        last_tokens_ = other.last_tokens_;
        spinners_ = other.spinners_;
    }

    /// Returns the token of the current hold. Returns 0 if the hold has no token or a block of
    /// several tokens. A block has one token for each of the holder's owners in turn.
    std::uint64_t token(const lock_name&) const;
    /// Returns the greatest token that was granted or reserved, even if the lock does not exist any
    /// more. 0: no token was granted.
    std::uint64_t last_token(const lock_name&) const;

private:
    struct lock {
        std::string owner;
        microseconds ends_at;    ///< expiry; microseconds::max(): none
        std::uint64_t token = 0; ///< token of the hold, as in token()
    };

    bool is_over(const lock& l) const { return clock_.is_over(l.ends_at); }
    lock* find(const lock_name&);
    lock* find_of(const hold&);
    std::uint64_t reserve_tokens(const ask&);

    const server_clock& clock_;
    std::map<std::string, lock> locks_;
    std::map<std::string, std::uint64_t> last_tokens_;
    using client = std::array<std::uint8_t, 16>;
    // Time until which each waiter of a spin lock counts, by lock name and client.
    std::map<std::string, std::map<client, microseconds>> spinners_;
};

} // namespace holdfast::memory
