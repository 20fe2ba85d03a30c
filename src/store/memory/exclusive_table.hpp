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
    std::optional<duration> left{}; ///< of the hold that keeps it busy, or of others that share it;
                                    ///< nothing: it has no end
    std::uint64_t token = 0;        ///< granted, of a fenced lock: the first of its tokens
    bool queued = false;            ///< busy, and the owner has a place in a queue now
    bool joined_now = false;        ///< which is new
    const char* other = nullptr;    ///< in words, the other kind that has the name
    bool holder_tells = true;       ///< busy: who waits is told when it is released
};

/// The locks of a server that one owner has and nobody queues for there. A lock whose lease is over
/// is gone before anybody looks.
/// Thread safety: none; the server's mutex is around it.
class exclusive_table {
public:
    /// Must outlive it.
    explicit exclusive_table(const server_clock& clock)
        : clock_{clock} {}

    /// Free, or the asker's already: granted, and the lease lasts at least as long as asked.
    verdict_on_look look(const ask&);
    bool renew(const hold&, duration lease_time); ///< false: it is not held by that owner
    bool release(const hold&);                    ///< likewise
    /// Whether clients other than the owner's wait for that spin lock, as far as they said lately.
    bool others_spin(const hold&) const;
    /// Whatever that owner's client holds does not end sooner.
    void prolong(const owner_id&, microseconds end);

    std::optional<holding> inspect(const lock_name&) const; ///< nothing: it is free
    std::vector<std::string> held() const;                  ///< their names, in order

    void occupy(const lock_name&, std::string owner, duration lease_time); ///< whoever had it
    bool erase(const lock_name&); ///< likewise; false: it was free
    void clear();
    void become(const exclusive_table& other) { ///< with the dates of the other one's clock
        locks_ = other.locks_;
        last_tokens_ = other.last_tokens_;
        spinners_ = other.spinners_;
    }

    /// Of the present hold. 0: it has none, or is the first of several that may have it in turn.
    std::uint64_t token(const lock_name&) const;
    /// The greatest that was given away or reserved; a lock that goes leaves it. 0: there was none.
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
    std::map<std::string, std::map<client, microseconds>> spinners_; // until when they are known
};

} // namespace holdfast::memory
