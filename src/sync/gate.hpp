// SPDX-License-Identifier: Apache-2.0
// Local wait queue (`gate`) of one client for one name and one family of locks. The client has at
// most one hold there, and only one call at a time asks the store. The holds belong to the gate,
// not to threads. Readers are an exception: several readers may hold and ask at the same time, and
// they share a hold if possible.
//
//     queued ──admitted──▶ asks ──busy──▶ waits there ──granted──▶ holds
//        └──── handed on, or shared by a holder of this client ────▲
//
// The function `admits` alone decides when a call may go to the store. It is called by engine.cpp.
// For fair locks the store itself keeps the waiters in order. There the next call is sent when the
// previous call has its entry in the store's queue. So calls are sent in the order of their
// arrival, and any number of calls may wait in the store.
//
// A deferred release opens the gate before its acknowledgement if it was sent over a connection for
// blocking calls (`blocking_connection`). The next request may use another connection and overtake
// the release. Then the reply "busy" may be caused by the client's own old hold (see
// acquisition_loop.cpp).
//
// The table `gates` has all gates of a client. The class `timeout` has the timeouts of the queued
// calls.
#pragma once

#include "sync/acquisition.hpp"
#include "sync/lock_descriptor.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace holdfast::sync {

/// Local wait queue, as described above. Use it on the executor only.
class gate {
public:
    using shared_hold = std::shared_ptr<held_lock>;
    using hold_set = std::vector<shared_hold>;

    const shared_hold& holder() const { return holder_; } ///< the exclusive hold
    /// Returns the shared holds of readers, or the holds of permits.
    const hold_set& readers() const { return rare().readers; }
    /// Returns all holds that this client may have under this name.
    hold_set holds() const;
    std::size_t waiting() const { return queue_.size(); }
    bool unused() const;

    /// Returns whether the call may go to the store now. The call is new, or it is the next call in
    /// the queue.
    bool admits(const acquisition&) const;

    /// Returns whether a writer comes before that reader. The writer may hold the lock, ask the
    /// store, wait in the store, or queue here. A reader that wants to upgrade counts as a writer.
    bool writer_before(const acquisition& reader) const;

    /// Returns whether the call would deadlock, because it and another upgrade would wait for each
    /// other.
    bool has_upgrade_against(const acquisition&) const;

    // A deferred release must come before the next request of the same thread. If no other call
    // waits here or in the store, the release opens the gate at once.
    bool is_about_to_be_left() const; ///< the release was posted to the executor
    /// Returns whether the release was sent. The store replies within its time limit.
    bool is_being_left() const;

    /// Appends a call to the queue. The queue keeps the call alive until its turn comes or the call
    /// has finished. An upgrade is stored separately, because the queued calls wait for the
    /// upgrading caller's hold.
    void line_up(acquisition& waits);

    /// Returns the first call in the queue, or null.
    acquisition* first() { return queue_.empty() ? nullptr : &queue_.front(); }
    acquisition* upgrade() { return has_upgrade() ? &rare_->upgrade.front() : nullptr; }

    // An admitted call begins a negotiation and asks the store. If the lock is busy, the call waits
    // in the store. When the call ends, it ends the negotiation.
    void begin_negotiation(const acquisition&);
    void waits_there(acquisition&);
    /// Whether the store has told any call that the lock is busy.
    bool somebody_waits_there() const;
    /// Returns whether an earlier call waits in the store for the same counter. Only the earliest
    /// waiter asks again, so that a release that is enough for one waiter does not wake all.
    bool serves_before(const acquisition&) const;
    acquisition* first_to_serve(); ///< returns the earliest waiter, in the store or in the queue
    /// Returns the earliest waiters if together they want exactly `amount` permits. Otherwise
    /// returns nothing.
    std::vector<std::shared_ptr<acquisition>> served_by(std::int64_t amount);

    // Released permits are passed to local waiters for a limited time. Then a release goes to the
    // store, so that other clients get their turn.
    /// The store granted permits, or a release was sent to the store.
    void note_contact(time_point);
    void note_passes(std::size_t some) { some_rare().passes += some; }
    /// Returns how many calls were served locally since the last request to the store.
    std::uint64_t passes() const { return rare().passes; }
    time_point last_contact() const { return rare().contact_at; }
    void end_negotiation(const acquisition&);
    void enter(shared_hold);
    bool drop(const held_lock&); ///< returns false if the hold is not here
    void let_go();

    /// Asks the store whether the holder still has its hold. Needed when the store has granted the
    /// lock to another call of this client. The old hold stays in the gate until it has ended.
    void doubt_holder();
    /// Returns false if the hold was not displaced by a newer hold.
    bool forget_displaced(const held_lock&);

    /// Opens the gate before the holder's release is acknowledged. The release was sent already.
    void open_behind(const held_lock&);
    bool awaits_acknowledgement() const { return sent_off_ != nullptr; }
    /// Notes that the result of a sent release is known. Returns false if a later release was sent
    /// from this gate, or none.
    bool acknowledged(const held_lock&);

    /// Guard that registers the alarm of a negotiating call. The gate rings the alarm in three
    /// cases: the result of a sent release is known, the last reader has left, or the gate is
    /// closed.
    class bell {
    public:
        bell(gate& at, alarm& wake)
            : at_{at}
            , wake_{wake} {
            at_.some_rare().bells.push_back(&wake_);
        }
        bell(const bell&) = delete;
        ~bell() { std::erase(at_.rare_->bells, &wake_); }

    private:
        gate& at_;
        alarm& wake_;
    };

    /// Returns whether the next call must first give other clients a head start. This client has
    /// passed the lock on internally while other clients listened.
    bool owes_courtesy() const { return rare_ && rare_->owes_courtesy; }
    void owe_courtesy(bool owed);

private:
    /// Members that only few gates need. They are allocated separately, because a client may have a
    /// hundred thousand gates.
    struct rarities {
        acquisition::queue upgrade{}; // has at most one element
        hold_set displaced{};
        hold_set readers{};
        std::vector<alarm*> bells{};
        // The upgrade that asks the store now. The pointer is only compared, because the call may
        // have ended.
        const acquisition* upgrading = nullptr;
        // Calls that wait in the store for a counter or for permits, in order of arrival.
        std::vector<acquisition*> served_in_order{};
        std::int64_t amount_asked = 0; // sum over all calls that ask now
        std::uint64_t passes = 0;
        time_point contact_at = time_point::min();
        // Number of readers that ask the store now, and how many of them would share their hold.
        int reads = 0, sharable = 0;
        bool owes_courtesy = false;
    };

    static const rarities& nothing_rare();

    const rarities& rare() const { return rare_ ? *rare_ : nothing_rare(); }
    rarities& some_rare(); ///< allocates the members at the first call
    bool has_upgrade() const { return rare_ && !rare_->upgrade.empty(); }
    bool has_readers() const { return rare_ && !rare_->readers.empty(); }
    void count(const acquisition&, int by);
    void ring() const;
    bool admits_alone(const acquisition&) const;
    bool admits_reader(const acquisition&) const;
    bool admits_to_permits(const acquisition&) const;
    bool is_on_its_way_out() const;
    bool nobody_negotiates() const { return alone_ == 0 && !(rare_ && rare_->reads > 0); }

    acquisition::queue queue_;
    shared_hold holder_;
    // The pointer is only compared; the release keeps the hold alive.
    const held_lock* sent_off_ = nullptr;
    std::unique_ptr<rarities> rare_;
    int alone_ = 0;  // number of calls that ask for an exclusive hold
    int asking_ = 0; // number of calls, including readers, that have no reply yet
};

/// Returns whether the call may share a hold: its own hold with other calls, or another call's
/// hold. A shared hold is renewed, and is not linked to a write hold.
inline bool may_share(const request& wanted) {
    return wanted.of->kind == lock_kind::read && wanted.renewed && !wanted.under;
}

/// Key of a gate: a name and a family. The key refers to the name without a copy.
struct gate_key {
    const std::string& name;
    family of;
};

inline gate_key key_of(const hold& what) {
    return {what.name.text, family_of(what.kind)};
}
inline gate_key key_of(const acquisition& call) {
    return {call.wanted.of->entry(), call.wanted.of->kin()};
}

/// Table of all gates of a client. A gate exists while a call or a hold of this client needs it.
class gates {
public:
    gate& of(gate_key);
    gate* find(gate_key);
    void forget(gate_key unused);
    /// Drops all holds and queued calls; calls that ask the store now end on their own.
    void let_go();
    std::size_t count() const;

    /// Returns this client's holds under that name, in all families.
    std::vector<std::shared_ptr<held_lock>> held_under(const std::string& name);

    /// Returns this client's present hold with the same owner number. It may be a successor,
    /// because the hold may have been passed on. Returns null if there is none.
    std::shared_ptr<held_lock> heir_of(const hold&);

    /// Returns whether other clients listened when the lock was last released.
    bool others_listen(gate_key) const;
    void note_others(gate_key, bool listen);

    /// Notes the release of a lock whose waiters poll. If other clients wait, and this client has
    /// taken the lock repeatedly for several poll pauses, it leaves the lock to the others for one
    /// pause.
    void note_polled(gate_key, bool others_wait, const held_lock&, time_point now);
    void forget_polled(gate_key key) { polled_.erase(key.name); }
    /// Returns the time until which this client leaves the lock to other clients. If it need not
    /// leave the lock, the time is in the past.
    time_point left_to_others_until(gate_key) const;

private:
    /// Maximal number of entries in these tables. Unused gates are deleted, but entries of these
    /// tables are not.
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
    // Node of the last deleted gate, kept for reuse. Most gates are created and deleted with each
    // hold.
    map::node_type spare_;
    by_family<std::unordered_set<std::string>> contended_;
    std::unordered_map<std::string, polled> polled_;
};

/// Timeouts of the calls that queue at a gate. One alarm serves all of them.
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
    acquisition::agenda agenda_;
    std::unique_ptr<alarm> alarm_;
    time_point sleeping_until_ = time_point::max();
    bool running_ = false;
};

} // namespace holdfast::sync
