// SPDX-License-Identifier: Apache-2.0
// One call of lock(), a try_lock function or an asynchronous variant, from its start to its
// completion.
#pragma once

#include "sync/held_lock.hpp"
#include "sync/lock_descriptor.hpp"

#include <holdfast/error.hpp>

#include <boost/intrusive/list.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace holdfast::sync {

class engine;

/// Result of a call. Granted: `held` or `counted` is set. Failed: `why` is set. Busy: no member is
/// set.
struct outcome {
    std::shared_ptr<lock_handle> held{};
    failure why{};
    bool counted = false; ///< a counter granted the call; there is no hold
};

using call_hook =
    boost::intrusive::list_member_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

/// A pending call that acquires a lock. The call is completed exactly once: by its coroutine, by a
/// hand-over from another caller of this client, by cancellation, by its timeout, or by close(). A
/// second attempt to complete the call has no effect. The code that made the second attempt must
/// then release what it acquired for the call.
class acquisition : public std::enable_shared_from_this<acquisition> {
    call_hook under_way_;
    call_hook queued_;

    template <call_hook acquisition::*Hook>
    using list_by =
        boost::intrusive::list<acquisition,
                               boost::intrusive::member_hook<acquisition, call_hook, Hook>,
                               boost::intrusive::constant_time_size<false>>;

public:
    using list = list_by<&acquisition::under_way_>; ///< all calls of an engine
    /// List of the calls that wait in one local queue.
    using queue = list_by<&acquisition::queued_>;
    using deadline_map = std::multimap<time_point, acquisition*>;

    explicit acquisition(request);
    virtual ~acquisition() = default;

    const request wanted;
    const std::shared_ptr<engine> home;
    const time_point started_at;
    /// Number of the call in events, unique in this process. 0 if the client has no observer.
    const std::uint64_t number;

    const std::string& name() const { return wanted.of->name.text; }

    // Call the next functions on the executor only.
    void begin() { beginning_ = true; }
    void begun() { beginning_ = false; }
    bool finished() const { return finished_; }
    /// Returns whether the store has replied "busy" to this call, so that the call now waits in the
    /// store's queue or polls the store.
    bool waits_there() const { return waits_there_; }
    /// Records that the call waits in the store's queue or polls the store. Returns false if the
    /// call was waiting there already.
    bool begins_to_wait_there() { return !std::exchange(waits_there_, true); }
    /// Records that the beginning of the wait was reported to the observer. Returns false if this
    /// was noted before.
    bool begins_reported_wait() { return !std::exchange(wait_reported_, true); }
    /// Returns whether last_request_ended() needs to be called.
    virtual bool follows_requests() const { return false; }
    /// Function that is called when it is known that the lock is busy. It is also called when a
    /// request got no reply; `no_reply` is then the error. While this call waits in the local
    /// queue, the function is called for the requests of the calls in front of this call. The
    /// function must not end any call.
    virtual void last_request_ended(const failure* /*no_reply*/) {}
    /// Returns the position of this call among the calls of its local queue that have asked for
    /// permits.
    std::uint64_t negotiation() const { return negotiation_; }
    void set_negotiation(std::uint64_t position) { negotiation_ = position; }
    bool is_under_way() const { return under_way_.is_linked(); }
    void end() { under_way_.unlink(); }

    void stand_in(queue&);
    /// Removes the call from the queue. Returns the pointer with which the queue kept the call
    /// alive. There may be no other pointer to the call.
    std::shared_ptr<acquisition> step_out();

    void succeed(std::shared_ptr<held_lock>);
    /// Completes the call with a hold on several locks. The grant of each member was reported to
    /// the observer before.
    void succeed_jointly(std::shared_ptr<lock_handle>);
    /// Completes the call with a share of another call's hold. The grant of that hold was already
    /// reported to the observer, so the event of this call is `joined`.
    void share(std::shared_ptr<held_lock>);
    /// Completes a call to a counter. Returns false if the call had ended before. In that case the
    /// caller of this function must give the granted amount back.
    bool succeed_counted();
    void give_up_busy();
    void fail(failure, event_cause = event_cause::failed);
    void cancel();

    /// Owns the alarm of a call while the call's coroutine runs. An alarm must be destroyed on the
    /// executor, but any thread may drop the last reference to the call.
    class alarm_holder {
    public:
        explicit alarm_holder(acquisition&);
        alarm_holder(const alarm_holder&) = delete;
        ~alarm_holder() { call_.wake_.reset(); }

    private:
        acquisition& call_;
    };
    alarm& wake() { return *wake_; }
    void ring() { ///< wakes the coroutine, which then checks its condition again
        if (wake_)
            wake_->ring();
    }
    /// Moves the alarm out of the call, for an operation that may last longer than the call.
    std::unique_ptr<alarm> take_wake() { return std::move(wake_); }

protected:
    /// Returns whether the user's function that started this call is still running. While it runs,
    /// the call's handler must not be called.
    bool beginning() const { return beginning_; }

    virtual void complete(outcome) = 0;

private:
    friend class call_timeouts;

    std::shared_ptr<acquisition> finish();
    void tell(outcome);

    // Reference to the call itself, while the call is in a queue.
    std::shared_ptr<acquisition> keep_;
    std::optional<deadline_map::iterator> give_up_entry_;
    std::unique_ptr<alarm> wake_; // set while the call's coroutine runs
    std::uint64_t negotiation_ = 0;
    bool finished_ = false;
    bool waits_there_ = false;
    bool wait_reported_ = false;
    bool beginning_ = false;
};

/// Returns the number of a new call, for events. Clients may share an observer, so the number is
/// unique in the process. Returns 0 if no observer would see it.
std::uint64_t next_call_number(const engine&);

/// Sends requests to the store until the call gets a hold or fails. Then the next call in the local
/// wait queue may send requests. Usually only one call of a queue sends requests at a time;
/// `gate::admits()` has the exceptions.
asio::awaitable<void> negotiate(std::shared_ptr<acquisition>);

} // namespace holdfast::sync
