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

/// What one object of a lock type knows. Calls share it while they are under way, and copy no name.
class subject {
public:
    subject(std::shared_ptr<engine>, lock_name, duration lease, const detail::lock_setup&);
    subject(const subject&) = delete;
    virtual ~subject() = default;

    const std::shared_ptr<engine> home;
    const lock_name name; ///< as the store sees it
    const lock_kind kind;
    const duration lease;
    const recursion again;
    const bool deferred; ///< its release is not waited for
    const std::optional<backoff> polls;
    const duration outlasts; ///< see ask
    const fencing numbers;
    const std::uint8_t replicas; ///< so many must confirm what it is granted

    // What follows is different for a counter (counter_subject.hpp), and for a lock that is made of
    // several (src/compose).

    /// Under which name, and in which family, its calls of one client wait for each other; and as
    /// what a thread has it.
    virtual const std::string& entry() const noexcept { return name.text; }
    virtual family kin() const noexcept { return family_of(kind); }
    virtual side way() const noexcept { return side_of(kind); }

    /// What it counts: then it is granted without a hold. Empty: it is a lock.
    virtual std::optional<counter_kind> counts() const noexcept { return std::nullopt; }

    virtual bool is_joint() const noexcept { return false; }
    virtual bool takes_turns() const noexcept { return true; } ///< false: no call waits for another
    /// Takes it by way of its members. Null: it is busy, or the call has ended. It throws failures.
    virtual asio::awaitable<std::shared_ptr<tenure>> take(std::shared_ptr<acquisition>) const;

    /// As the store has it; of a lock that can be shared, this side of it.
    virtual asio::awaitable<std::optional<holding>> inspect() const;
    virtual asio::awaitable<bool> force() const;

    /// Those whose clients it asks: whoever waits for it on an executor of theirs waits for itself.
    virtual std::vector<const engine*> homes() const { return {home.get()}; }

    /// Throws `already_held` if this thread has a part of it; and enters the parts of a hold.
    virtual void refuse_parts_of_this_thread() const {}
    virtual void lend_parts(const tenure&) const {}
    virtual void take_back_parts() const {}
};

/// What a call wants, checked.
struct request {
    std::shared_ptr<const subject> of;
    duration lease;
    bool renewed;
    bool patient;          ///< false: one attempt
    time_point give_up_at; ///< not begun after that
    bool takes = true;     ///< false: it only waits until the lock is seen free
    std::int64_t amount{}; ///< of a counter, or of permits that are leased
    /// It shall stand beside this one, under a number of its own: to read under a write hold, or
    /// to write on top of a read hold.
    std::shared_ptr<wire_hold> under{};
    std::weak_ptr<tenure> share{}; ///< the share of it that the caller has

    /// For so long the store keeps what it gives the call, a hold or a place, if nobody wants it.
    duration lasts_unwanted() const { return std::max(lease, of->outlasts); }

    /// So many numbers a hold of it has.
    std::uint32_t permits() const {
        return of->kind == lock_kind::permit ? static_cast<std::uint32_t>(amount) : 1;
    }
};

/// A lease given is not renewed. Lengths were checked before.
request request_for(std::shared_ptr<const subject>, duration patience,
                    std::optional<duration> lease);

} // namespace holdfast::sync
