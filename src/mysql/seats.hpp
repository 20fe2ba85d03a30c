// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mysql/line.hpp"

#include <boost/intrusive/list.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace holdfast::mysql {

struct seat;

/// Somebody who waits for a connection; in the frame of whoever does. Destroyed, it waits no more,
/// and a seat that it was given goes back.
struct waiting
    : boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
    explicit waiting(std::unique_ptr<alarm> a)
        : wake{std::move(a)} {}

    const std::unique_ptr<alarm> wake;
    std::shared_ptr<seat> got;                    ///< it has it
    std::shared_ptr<const net::failure> failed{}; ///< or it will not get one
};
using queue = boost::intrusive::list<waiting, boost::intrusive::constant_time_size<false>>;

/// One connection of the pool.
struct seat {
    explicit seat(introduced made)
        : at{std::move(made.at)}
        , who{std::move(made.who)} {}

    const std::shared_ptr<line> at;
    portrait who;
    bool taken = false;          ///< somebody asks there
    bool to_wait_on = false;     ///< it is not one of those that requests share
    bool kept = false;           ///< and somebody has it
    bool in_transaction = false; ///< which was left open
    queue named;                 ///< who waits for this one
    std::weak_ptr<carrier> given{};

    /// For whoever names it alone.
    bool apart() const { return kept || in_transaction; }
    bool free() const { return !taken && !apart() && !at->is_cut(); }
};

/// Who gets which connection. No I/O, no clock.
///
///   shared requests ──▶ one queue ──▶ any shared seat that is free
///   who names one   ──▶ its own queue, before the others
class seats {
public:
    using place = std::shared_ptr<seat>;

    /// One that is free, which is then taken; or null.
    place take_free();
    place take(const place& named); ///< null: somebody asks there
    /// One that is for waiting on, and that nobody uses; then it is taken and apart.
    place take_spare();

    /// For any of those that requests share, in the order of asking.
    void wait(waiting& who) { shared_.push_back(who); }

    void add(const place& made) { all_.push_back(made); }

    /// Nobody asks there any more. Whoever waited longest for it gets it; one that is cut is
    /// forgotten.
    void give_back(const place&);

    /// Forgets one that is cut. False: it was forgotten before.
    bool drop(const place&);

    bool anybody_waits() const { return !shared_.empty(); }
    void fail_shared(const net::failure& why);
    void fail_all(const net::failure& why);

    /// Of those that requests share. One with an open transaction comes back to them soon.
    std::size_t shared_count() const;
    std::size_t to_wait_on_count() const;
    bool empty() const { return all_.empty(); }
    const std::vector<place>& all() const { return all_; }

    static void fail(queue&, const std::shared_ptr<const net::failure>&);

private:
    void hand(queue& to, const place&);

    std::vector<place> all_;
    queue shared_;
};

} // namespace holdfast::mysql
