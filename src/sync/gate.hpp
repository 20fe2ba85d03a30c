// SPDX-License-Identifier: Apache-2.0
// Local wait queue (`gate`) of one client for one name and one family of locks. The client has at
// most one hold there, and only one call at a time asks the store. The holds belong to the gate,
// not to threads. Readers are an exception: they may hold and ask side by side, and share a hold if
// possible.
//
//     queued ──admitted──▶ asks ──busy──▶ waits there ──granted──▶ holds
//        └──── handed on, or shared by a holder of this client ────▲
//
// The function `admits` alone decides when a call may go to the store; turns.cpp calls it. For fair
// locks the store itself keeps the waiters in order. There a call is sent as soon as the call
// before it has its place. So the order of sending is the order of arrival, and any number of
// calls wait in the store.
//
// A deferred release opens the gate early if it was sent over a connection for blocking calls
// (`lane`). The next request may go over another connection and overtake the release. Then the
// answer "busy" says nothing (acquire.cpp).
#pragma once

#include "sync/acquisition.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace holdfast::sync {

/// Local wait queue, as described above. Use it on the executor only.
class gate {
public:
    using shared_hold = std::shared_ptr<wire_hold>;
    using hold_set = std::vector<shared_hold>;

    const shared_hold& holder() const { return holder_; } ///< the exclusive hold
    /// Returns the holds that are shared, or the holds of permits.
    const hold_set& readers() const { return rare().readers; }
    /// Returns all holds that this client may have.
    hold_set holds() const;
    std::size_t waiting() const { return queue_.size(); }
    bool unused() const;

    /// Returns whether the call may go to the store now: a call that has just come, or the next one
    /// in the queue.
    bool admits(const acquisition&) const;

    /// Returns whether a writer comes before that reader: a writer that holds, asks, waits in the
    /// store or queues here, or a reader that wants to upgrade.
    bool writer_before(const acquisition& reader) const;

    /// Returns whether the call would deadlock: it and another upgrade would wait for each other.
    bool has_upgrade_against(const acquisition&) const;

    // A deferred release must come before the next request of its thread, if no other call waits
    // here or in the store. Then the release opens the gate.
    bool is_about_to_be_left() const; ///< the release is on its way to the executor
    /// Returns whether the release was sent. The store answers within its time limit.
    bool is_being_left() const;

    /// Appends a call to the queue. The queue keeps it alive until its turn comes or it has
    /// finished. An upgrade has a separate place, because the queued calls wait for its hold.
    void line_up(acquisition& waits);

    /// Returns the first call in the queue, or null.
    acquisition* first() { return queue_.empty() ? nullptr : &queue_.front(); }
    acquisition* upgrade() { return has_upgrade() ? &rare_->upgrade.front() : nullptr; }

    // An admitted call first asks the store. If the lock is busy, the call waits in the store. At
    // the end it leaves.
    void begin_negotiation(const acquisition&);
    void waits_there(acquisition&);
    bool somebody_waits_there() const; ///< the store told a call that the lock is busy
    /// Returns whether a call that came earlier waits in the store for the same counter. Only the
    /// earliest waiter asks again: a release that is enough for one waiter need not wake all.
    bool serves_before(const acquisition&) const;
    acquisition* first_to_serve(); ///< the earliest of all waiters, in the store or in the queue
    /// Returns the earliest waiters, if they want exactly `amount` permits together. Else returns
    /// nothing.
    std::vector<std::shared_ptr<acquisition>> served_by(std::int64_t amount);

    // Released permits are passed to local waiters for a limited time. Then they go to the store,
    // so that other clients get their turn.
    void note_contact(time_point); ///< the store granted permits, or a release is sent to it
    void note_passes(std::size_t some) { some_rare().passes += some; }
    /// Returns how many calls were served locally since the last contact.
    std::uint64_t passes() const { return rare().passes; }
    time_point last_contact() const { return rare().contact_at; }
    void end_negotiation(const acquisition&);
    void enter(shared_hold);
    bool drop(const wire_hold&); ///< false: the hold is not here
    void let_go();

    /// Asks the store whether the holder still has its hold, because the store gave the lock to
    /// another call of this client. The old hold stays in the gate until it has ended.
    void doubt_holder();
    bool forget_displaced(const wire_hold&); ///< false: it was not displaced

    /// Opens the gate: the holder's release was sent, but is not acknowledged yet.
    void open_behind(const wire_hold&);
    bool awaits_acknowledgement() const { return sent_off_ != nullptr; }
    /// Notes that the result of that release is known. False: it was not the last release sent from
    /// here.
    bool acknowledged(const wire_hold&);

    /// Registers an alarm of a negotiating call. It rings when that result is known, when the last
    /// reader has left, and when the gate is closed.
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

    /// Returns whether other clients get a head start next: this client has passed the lock around
    /// internally while they listened.
    bool owes_courtesy() const { return rare_ && rare_->owes_courtesy; }
    void owe_courtesy(bool owed);

private:
    /// Members that few gates need. A client may have a hundred thousand gates.
    struct rarities {
        acquisition::queue upgrade{}; // at most one
        hold_set displaced{};
        hold_set readers{};
        std::vector<alarm*> bells{};
        // The upgrade that asks the store. Its pointer is only compared, since the call may have
        // ended.
        const acquisition* upgrading = nullptr;
        // Calls that wait in the store for a counter or for permits, in order of arrival.
        std::vector<acquisition*> served_in_order{};
        std::int64_t amount_asked = 0; // by every call that asks at present
        std::uint64_t passes = 0;
        time_point contact_at = time_point::min();
        // Number of readers that ask the store, and of those whose hold could be shared.
        int reads = 0, sharable = 0;
        bool owes_courtesy = false;
    };

    static const rarities& nothing_rare();

    const rarities& rare() const { return rare_ ? *rare_ : nothing_rare(); }
    rarities& some_rare(); ///< made when first needed
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
    const wire_hold* sent_off_ = nullptr; // only compared: the release keeps the hold alive
    std::unique_ptr<rarities> rare_;
    int alone_ = 0;  // calls that ask to hold exclusively
    int asking_ = 0; // calls, readers too, that have no answer yet
};

/// Returns whether the call may share its hold with other calls, and may share another call's hold.
/// Such a hold is renewed, and is not linked to a write hold.
inline bool may_share(const request& wanted) {
    return wanted.of->kind == lock_kind::read && wanted.renewed && !wanted.under;
}

} // namespace holdfast::sync
