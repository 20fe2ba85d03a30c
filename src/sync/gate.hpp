// SPDX-License-Identifier: Apache-2.0
// Where the waiters of one client for one name and one family of locks queue. It owns wire holds,
// not threads: one hold of this client at a time, and only one call at a time talks to the store.
// Readers are the exception: they may hold and ask side by side, and share a hold where they can.
//
//     queued ──admitted──▶ asks ──busy──▶ waits there ──granted──▶ holds
//        └──── handed on, or shared by a holder of this client ────▲
//
// Who is admitted when: turns.cpp asks, and `admits` is the whole answer. Where the store keeps the
// waiters in order, each is let go there as soon as the one before it has its place: then the order
// of sending is the order of arrival, and any number wait there.
//
// A deferred release opens it early if it was sent on a lane; the next request may still overtake
// it on another connection, and its answer then says nothing (acquire.cpp).
#pragma once

#include "sync/acquisition.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace holdfast::sync {

/// Touched on the executor only.
class gate {
public:
    using shared_hold = std::shared_ptr<wire_hold>;
    using hold_set = std::vector<shared_hold>;

    const shared_hold& holder() const { return holder_; }      ///< who has it alone
    const hold_set& readers() const { return rare().readers; } ///< who shares it, or has permits
    hold_set holds() const;                                    ///< all that this client may have
    std::size_t waiting() const { return queue_.size(); }
    bool unused() const;

    /// Whether that call may go to the store now: one that just comes, or one that waits here and
    /// is the next.
    bool admits(const acquisition&) const;

    /// Whether a writer stands before that reader: one that holds, asks, waits or queues, or that
    /// wants to upgrade.
    bool writer_before(const acquisition& reader) const;

    /// Whether it would wait for another upgrade, which waits for it.
    bool has_upgrade_against(const acquisition&) const;

    // A deferred release comes before what its thread asks next, where nobody else waits here or
    // at the store: then it opens the gate.
    bool is_about_to_be_left() const; ///< it is still on its way to the executor
    bool is_being_left() const;       ///< the store was asked, and answers within its time limit

    /// Who waits keeps itself alive here until it is its turn or it has finished. An upgrade has a
    /// place of its own: who queues waits for the hold that it has already.
    void line_up(acquisition& waits);

    /// Who waits first; null if nobody does.
    acquisition* first() { return queue_.empty() ? nullptr : &queue_.front(); }
    acquisition* upgrade() { return has_upgrade() ? &rare_->upgrade.front() : nullptr; }

    // Whoever is admitted asks; then it may wait at the store; then it has ended.
    void begin_negotiation(const acquisition&);
    void waits_there(acquisition&);
    bool somebody_waits_there() const; ///< was told by the store that it is busy
    /// Of what is counted: whether others wait there who came before it. Only the first of them
    /// looks again: a release that is enough for one need not wake all.
    bool serves_before(const acquisition&) const;
    acquisition* first_to_serve(); ///< who came first of all that wait for it, there or here
    /// Those who came first of them, and want just that much together. Empty: they want less, or
    /// more.
    std::vector<std::shared_ptr<acquisition>> served_by(std::int64_t amount);

    // Permits that are released here are passed to who waits, for a while: then the store is asked,
    // so that other clients have their turn.
    void note_contact(time_point); ///< the store granted something, or is asked to release it
    void note_passes(std::size_t some) { some_rare().passes += some; }
    std::uint64_t passes() const { return rare().passes; } ///< since the last contact
    time_point last_contact() const { return rare().contact_at; }
    void end_negotiation(const acquisition&);
    void enter(shared_hold);
    bool drop(const wire_hold&); ///< false: it is not here
    void let_go();

    /// The store gave the lock to another call of this client, while the holder still believes in
    /// its hold: so it is asked for, and known here until it has ended.
    void doubt_holder();
    bool forget_displaced(const wire_hold&); ///< false: it is none of these

    /// Opens it: the holder's release is on its way, and not acknowledged yet.
    void open_behind(const wire_hold&);
    bool awaits_acknowledgement() const { return sent_off_ != nullptr; }
    /// Somebody knows what became of that release. False: it was not the last one sent from here.
    bool acknowledged(const wire_hold&);

    /// Rings then, and when the last reader has left, for whoever negotiates.
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

    /// It had been handed around here while other clients listened: they are let try first.
    bool owes_courtesy() const { return rare_ && rare_->owes_courtesy; }
    void owe_courtesy(bool owed);

private:
    /// What few gates need, of which there may be a hundred thousand.
    struct rarities {
        acquisition::queue upgrade{}; // one at most
        hold_set displaced{};
        hold_set readers{};
        std::vector<alarm*> bells{};
        const acquisition* upgrading = nullptr;      // negotiates; only compared when it has ended
        std::vector<acquisition*> served_in_order{}; // wait at the store for what is counted
        std::int64_t amount_asked = 0;               // by all who ask for it at present
        std::uint64_t passes = 0;
        time_point contact_at = time_point::min();
        // So many readers negotiate, and some of them for a hold that others could share.
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
    const wire_hold* sent_off_ = nullptr; // only compared: its release keeps it alive
    std::unique_ptr<rarities> rare_;
    int alone_ = 0;  // so many calls negotiate to have it alone
    int asking_ = 0; // and so many, readers too, were not answered
};

/// Whether what a call is granted may be shared, and it may share what another one was granted: it
/// is renewed, and stands beside no write hold.
inline bool may_share(const request& wanted) {
    return wanted.of->kind == lock_kind::read && wanted.renewed && !wanted.under;
}

} // namespace holdfast::sync
