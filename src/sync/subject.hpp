// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sync/family.hpp"
#include "sync/thread_table.hpp"

#include <holdfast/basic_mutex.hpp>
#include <holdfast/counters.hpp>
#include <holdfast/store.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::sync {

class acquisition;
class engine;
class wire_hold;

/// Descriptor of a lock object. Pending calls share it, so they need not copy the name.
class subject {
public:
    subject(std::shared_ptr<engine>, lock_name, duration lease, const detail::lock_setup&);
    subject(const subject&) = delete;
    virtual ~subject() = default;

    const std::shared_ptr<engine> home;
    const lock_name name; ///< name in the store
    const lock_kind kind;
    const duration lease;
    const recursion again;
    const bool deferred; ///< callers do not wait for the release
    const std::optional<backoff> polls;
    const duration outlasts; ///< see `ask::outlasts`
    const fencing numbers;
    const std::uint8_t replicas; ///< number of replicas that must confirm a grant

    // A counter overrides the following functions (counter_subject.hpp), and so does a lock that is
    // made of several locks (src/compose).

    /// Key of the lock within a client. Calls with the same `entry` and `kin` wait for each other.
    /// A thread that holds the lock is entered under `entry` and `way`.
    virtual const std::string& entry() const noexcept { return name.text; }
    virtual family kin() const noexcept { return family_of(kind); }
    virtual side way() const noexcept { return side_of(kind); }

    /// Returns the kind of counter, which is granted without a hold. Empty: it is a lock.
    virtual std::optional<counter_kind> counts() const noexcept { return std::nullopt; }

    virtual bool is_joint() const noexcept { return false; }
    virtual bool takes_turns() const noexcept { return true; } ///< false: no call waits for another
    /// Takes a lock that is made of several, through its members. Null: it is busy, or the call has
    /// ended. Failures are thrown.
    virtual asio::awaitable<std::shared_ptr<tenure>> take(std::shared_ptr<acquisition>) const;

    /// Returns the state of the lock in the store. If the lock can be shared, the state is that of
    /// this side only.
    virtual asio::awaitable<std::optional<holding>> inspect() const;
    virtual asio::awaitable<bool> force() const;

    /// Returns the clients that a call asks. A thread that runs the executor of any of them must
    /// not wait for the call, since it would wait for itself.
    virtual std::vector<const engine*> homes() const { return {home.get()}; }

    /// Throws `already_held` if this thread holds a member of the lock. The other two functions
    /// enter the members of a hold into the thread table and remove them again.
    virtual void refuse_parts_of_this_thread() const {}
    virtual void lend_parts(const tenure&) const {}
    virtual void take_back_parts() const {}
};

/// An acquire request, already checked.
struct request {
    std::shared_ptr<const subject> of;
    duration lease;
    bool renewed;
    bool patient;          ///< false: one attempt
    time_point give_up_at; ///< deadline: no request begins after it
    bool takes = true;     ///< false: only waits until the lock is seen free
    std::int64_t amount{}; ///< amount for a counter, or number of leased permits
    /// Existing hold of the caller on the other side of the lock: a write hold under which it wants
    /// to read, or a read hold that it wants to upgrade. The new hold gets its own owner number.
    std::shared_ptr<wire_hold> under{};
    std::weak_ptr<tenure> share{}; ///< the share of that hold that the caller has

    /// Returns how long the store keeps a hold or a place in a queue if the call no longer wants
    /// it.
    duration lasts_unwanted() const { return std::max(lease, of->outlasts); }

    /// Returns how many owner numbers a hold uses.
    std::uint32_t permits() const {
        return of->kind == lock_kind::permit ? static_cast<std::uint32_t>(amount) : 1;
    }
};

/// Makes a request. A lease that is given explicitly is not renewed. The arguments must be checked
/// already.
request request_for(std::shared_ptr<const subject>, duration patience,
                    std::optional<duration> lease);

} // namespace holdfast::sync
