// SPDX-License-Identifier: Apache-2.0
// Local wait queue (`gate`) of one client for one name and one family of locks. A client has at
// most one hold in a gate, and only one call at a time asks the store. The holds belong to the
// gate, not to threads. Readers are an exception: several readers may hold and ask at the same
// time, and they share a hold if possible.
//
//     queued ──admitted──▶ asks ──busy──▶ waits there ──granted──▶ holds
//        └──── handed on, or shared by a holder of this client ────▲
//
// Only the function `admits` decides when a call may send its request to the store; engine.cpp
// calls it. For fair locks the store itself keeps the waiters in order. For these locks, a call
// sends its first request as soon as the previous call has its entry in the store's queue. So the
// calls reach the store in the order of their arrival, and any number of calls can wait in the
// store.
//
// unlock() of a lock with `deferred_release` does not wait for the store's acknowledgement. If the
// release was sent over a connection for blocking calls (`blocking_connection`), the gate opens
// before the acknowledgement. The next request may use another connection and overtake the release.
// The reply "busy" may then be caused by the client's own old hold (see acquisition_loop.cpp).
//
// The table `gates` has all local wait queues of a client. The class `call_timeouts` has the
// timeouts of the queued calls.
#pragma once

#include "sync/acquisition.hpp"
#include "sync/lock_descriptor.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace holdfast::sync {

/// Local wait queue for one name and one family of locks. Use it on the executor only.
class gate {
public:
    using shared_hold = std::shared_ptr<held_lock>;
    using hold_set = std::vector<shared_hold>;

    const shared_hold& holder() const { return holder_; } ///< the exclusive hold
    /// Returns the holds that can exist at the same time: holds of readers, or holds of permits.
    const hold_set& readers() const { return rare().readers; }
    /// Returns all holds that this client may have under this name.
    hold_set holds() const;
    std::size_t waiting() const { return queue_.size(); }
    bool unused() const;

    /// Returns whether the call may send its request to the store now. Call it only for a new call,
    /// or for the first call in the queue; other calls are not admitted.
    bool admits(const acquisition&) const;

    /// Returns whether the reader must wait for a writer of this client: the writer holds the lock,
    /// asks the store, or waits in the local queue or at the store. A reader that wants to upgrade
    /// counts as a writer.
    bool writer_before(const acquisition& reader) const;

    /// Returns whether the call would deadlock: this call and another call both want to upgrade,
    /// and each would wait for the end of the other reader's hold.
    bool has_upgrade_against(const acquisition&) const;

    // The next two functions are about a deferred release: the request of a thread's next call must
    // not overtake the release. The release lets the next call start at once, unless another call
    // already waits in this queue or at the store.
    bool is_about_to_be_left() const; ///< the release was posted to the executor
    /// Returns whether a release was sent and its reply is pending. The reply comes within the
    /// store's time limit.
    bool is_being_left() const;

    /// Appends a call to the queue. The queue keeps the call alive until the call may ask the store
    /// or has finished. A call that upgrades its hold is stored separately, because the queued
    /// calls wait for the end of that hold.
    void line_up(acquisition& waits);

    /// Returns the first call in the queue, or null.
    acquisition* first() { return queue_.empty() ? nullptr : &queue_.front(); }
    acquisition* upgrade() { return has_upgrade() ? &rare_->upgrade.front() : nullptr; }

    // Records that an admitted call begins a negotiation: it asks the store, and waits at the store
    // if the lock is busy. The negotiation ends when the call ends.
    void begin_negotiation(acquisition&);
    /// Records that the coroutine of a negotiating call runs. The coroutine lives until
    /// end_negotiation() is called.
    void enter_negotiation(acquisition&);
    void waits_there(const acquisition&);
    /// Returns whether the store has replied "busy" to any call that still waits.
    bool somebody_waits_there() const;
    /// Returns whether an earlier call of this client waits at the store for the same counter. Only
    /// the earliest call asks again after a release. So a release that is enough for one call does
    /// not make all calls ask.
    bool serves_before(const acquisition&) const;
    acquisition* first_to_serve(); ///< returns the earliest waiter, at the store or in the queue
    /// Returns the earliest waiters that together want exactly `amount` permits. Returns nothing if
    /// the earliest waiters want another sum.
    std::vector<std::shared_ptr<acquisition>> served_by(std::int64_t amount);

    // Records the time at which the store granted permits, or a release was sent to the store. For
    // a limited time after that, released permits are passed to local waiters. Later releases go to
    // the store, so that other clients can get permits.
    void note_store_use(time_point);
    void note_passes(std::size_t some) { ensure_rare().passes += some; }
    /// Returns how many calls got permits locally since the last request to the store was sent.
    std::uint64_t passes() const { return rare().passes; }
    time_point last_store_use() const { return rare().store_used_at; }
    void end_negotiation(const acquisition&);

    /// Records that a call of this queue sends a request to the store.
    void note_request(time_point now) { asked_at_ = std::min(asked_at_, now); }
    /// Records that nobody waits for a reply to the request of that time.
    void forget_request(time_point sent_at) {
        if (asked_at_ == sent_at)
            asked_at_ = time_point::max();
    }
    // The next two functions record whether the last request of a call got a reply. note_no_reply()
    // stores the error for the calls that wait behind that call. Those calls have sent nothing, so
    // for them the error `outcome_unknown` becomes `unreachable`.
    void note_no_reply(failure);
    void note_reply(bool granted);
    /// Records that the store has replied "busy" to a call of this queue.
    void note_busy(time_point now) { ensure_rare().busy_at = now; }
    /// Returns whether the store has replied "busy" to a call of this queue after the given time.
    bool was_busy_after(time_point when) const { return rare().busy_at > when; }
    /// Returns the error of a call whose timeout has passed, if this client cannot say whether the
    /// lock is busy. This is so if the last request failed, or if no request got a reply during the
    /// whole wait. Returns nothing if the store has replied, or if this client holds the lock.
    std::optional<failure> why_unknown(const acquisition& behind, time_point now) const;

    void enter(shared_hold);
    bool drop(const held_lock&); ///< returns false if the gate does not have the hold
    void let_go();

    /// Asks the store whether this client's old hold still exists. Call it after the store has
    /// granted the lock to another call of this client, because the old hold is then probably lost.
    /// The hold stays in the table until it has ended.
    void revalidate_holder();
    /// Removes a hold that a newer hold of this client has replaced. Returns false if no newer hold
    /// has replaced it.
    bool forget_superseded(const held_lock&);

    /// Lets the next call send its request before the store has acknowledged the holder's release.
    /// The release must have been sent already.
    void open_behind(const held_lock&);
    bool awaits_acknowledgement() const { return sent_off_ != nullptr; }
    /// Records that the result of a sent release is known. Returns false if this queue waits for no
    /// result, or for the result of a later release.
    bool acknowledged(const held_lock&);

    /// Guard that registers the alarm of a call that asks the store. The alarm rings in three
    /// cases: the result of a sent release is known, the last reader has released, or the client
    /// closes.
    class registered_alarm {
    public:
        registered_alarm(gate& at, alarm& wake)
            : at_{at}
            , wake_{wake} {
            at_.ensure_rare().alarms.push_back(&wake_);
        }
        registered_alarm(const registered_alarm&) = delete;
        ~registered_alarm() { std::erase(at_.rare_->alarms, &wake_); }

    private:
        gate& at_;
        alarm& wake_;
    };

    /// Returns whether the next call must first give other clients time to acquire the lock. This
    /// is the case after a local hand-over while other clients were subscribed to the release.
    bool owes_courtesy() const { return rare_ && rare_->owes_courtesy; }
    void owe_courtesy(bool owed);

private:
    /// Members that only few local wait queues need. These members are allocated on demand, because
    /// a client may have a hundred thousand queues.
    struct rare_fields {
        acquisition::queue upgrade{}; // has at most one element
        hold_set superseded{};
        hold_set readers{};
        std::vector<alarm*> alarms{};
        // The upgrade that asks the store now. The pointer is only compared and never dereferenced,
        // because the call may have ended.
        const acquisition* upgrading = nullptr;
        // Calls that ask the store for a counter or for permits, or wait at the store. Their order
        // is the order in which they began to ask; replies may arrive in another order.
        std::vector<acquisition*> served_in_order{};
        std::int64_t amount_asked = 0;  // sum over all calls that ask now
        std::uint64_t negotiations = 0; // number of calls for permits that began to ask
        std::uint64_t passes = 0;
        time_point store_used_at = time_point::min();
        time_point busy_at = time_point::min(); // time of the store's last reply "busy"
        std::optional<failure> no_reply{};      // why the last request got no reply
        bool was_busy = false; // true: permits were busy, and none were granted since then
        // True if a call in the queue wants to know how the requests of the calls in front of it
        // end.
        bool has_followers = false;
        // Number of readers that ask the store now, and how many of them would share the hold that
        // they get.
        int reads = 0, sharable = 0;
        bool owes_courtesy = false;
    };

    static const rare_fields& no_rare_fields();

    const rare_fields& rare() const { return rare_ ? *rare_ : no_rare_fields(); }
    rare_fields& ensure_rare(); ///< allocates the members at the first call
    bool has_upgrade() const { return rare_ && !rare_->upgrade.empty(); }
    bool has_readers() const { return rare_ && !rare_->readers.empty(); }
    void count(const acquisition&, int by);
    void ring() const;
    void forget_no_reply(bool granted);
    const failure* last_failure() const;
    void tell_followers(const failure* no_reply);
    bool admits_alone(const acquisition&) const;
    bool admits_reader(const acquisition&) const;
    bool admits_to_permits(const acquisition&) const;
    bool is_on_its_way_out() const;
    bool nobody_negotiates() const { return alone_ == 0 && !(rare_ && rare_->reads > 0); }

    acquisition::queue queue_;
    shared_hold holder_;
    // Hold whose release was sent. The pointer is only compared, never dereferenced; the release
    // keeps the hold alive.
    const held_lock* sent_off_ = nullptr;
    std::unique_ptr<rare_fields> rare_;
    int alone_ = 0;  // number of calls that ask for an exclusive hold
    int asking_ = 0; // number of calls, including readers, that have no reply yet
    // Time of the first request since the last reply of the store.
    time_point asked_at_ = time_point::max();
};

/// Returns whether the call can share a hold with other calls of this client: either it joins an
/// existing hold, or later calls join its hold. A shared hold must be renewed, and must not be
/// linked to a write hold.
inline bool may_share(const request& wanted) {
    return wanted.of->kind == lock_kind::read && wanted.renewed && !wanted.under;
}

/// Key of a local wait queue: a name and a family of locks. The key refers to the name and does not
/// copy it.
struct gate_key {
    const std::string& name;
    family of;
};

inline gate_key key_of(const hold& what) {
    return {what.name.text, family_of(what.kind)};
}
inline gate_key key_of(const acquisition& call) {
    return {call.wanted.of->entry(), call.wanted.of->lock_family()};
}

/// Table of all local wait queues of a client. A queue exists while a call or a hold of this client
/// needs it.
class gates {
public:
    gate& of(gate_key);
    gate* find(gate_key);
    void forget(gate_key unused);
    /// Drops all holds and all queued calls. Calls that are asking the store end by themselves.
    void let_go();
    std::size_t count() const;

    /// Returns this client's holds under the given name, in all families.
    std::vector<std::shared_ptr<held_lock>> held_under(const std::string& name);

    /// Returns this client's present hold with the same owner number. If the hold was handed over
    /// locally, the result is the next owner's hold. Returns null if there is no such hold.
    std::shared_ptr<held_lock> present_hold_of(const hold&);

    /// Returns whether other clients were subscribed to the lock when it was last released.
    bool others_listen(gate_key) const;
    void note_others(gate_key, bool listen);

    /// Records the release of a lock whose waiters poll. If this client has taken the lock again
    /// and again while other clients waited, it pauses now for the time between two polls. So
    /// another client can get the lock.
    void note_polled(gate_key, bool others_wait, const held_lock&, time_point now);
    void forget_polled(gate_key key) { polled_.erase(key.name); }
    /// Returns the time until which this client must not take the lock, so that other clients can
    /// take it. The result is in the past if this client may take the lock now.
    time_point left_to_others_until(gate_key) const;

private:
    /// Maximum number of entries in `polled_`, and in each table of `contended_`. The limit is
    /// needed because unused entries of these tables are not deleted.
    static constexpr std::size_t contended_max = 10'000;

    /// State of a spin lock that other clients wait for.
    struct polled {
        time_point had_since;
        time_point left_until = time_point::min();
    };

    using map = std::unordered_map<std::string, gate>;
    template <typename T>
    using by_family = std::array<T, std::size(families)>;

    map& named(family which) { return gates_[static_cast<std::size_t>(which)]; }

    by_family<map> gates_; // key: the name
    // Map node of the queue that was deleted last. The node is kept for reuse, because most queues
    // are created and deleted with each hold.
    map::node_type spare_;
    by_family<std::unordered_set<std::string>> contended_;
    std::unordered_map<std::string, polled> polled_;
};

/// Timeouts of the calls that wait in local queues. One alarm serves all these timeouts.
class call_timeouts {
public:
    explicit call_timeouts(engine&);

    void watch(acquisition&);
    void forget(acquisition&);
    void stop();
    void let_go_of_clock() noexcept; ///< call it after stop()

private:
    static asio::awaitable<void> run(std::shared_ptr<engine>);
    void act_on_due();

    engine& engine_;
    acquisition::deadline_map deadlines_;
    std::unique_ptr<alarm> alarm_;
    time_point sleeping_until_ = time_point::max();
    bool running_ = false;
};

// Local hand-over: a hold passes from one call of this client to another, without a request to the
// store (hand_off.cpp).

/// Hands over a hold that its owner no longer needs. The first waiter in the local queue gets the
/// hold without a request to the store. The limits of `options::hand_off` must allow it, and the
/// hold must fit the waiter's request. Returns true if the hold was handed over; the hold has then
/// ended for its old owner. Returns false if the caller must release the hold at the store.
bool hand_on(const std::shared_ptr<held_lock>&);

/// Finds a read hold of this client, takes a share of it for the caller, and returns it. Sends no
/// request. Returns null if the call must ask the store or wait. The limits of `options::hand_off`
/// apply, so that writers of other clients get the lock soon.
std::shared_ptr<held_lock> hold_to_share(const gate&, const acquisition&);

} // namespace holdfast::sync
