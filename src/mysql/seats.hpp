// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mysql/line.hpp"

#include <boost/intrusive/list.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace holdfast::mysql {

struct seat;

/// A request that waits for a connection. The object lives in the frame of the waiting coroutine.
/// Its destructor removes the request from the queue.
struct waiting
    : boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
    explicit waiting(std::unique_ptr<alarm> a)
        : wake{std::move(a)} {}

    const std::unique_ptr<alarm> wake;
    /// connection that the request got; null: none yet
    std::shared_ptr<seat> got;
    std::shared_ptr<const net::failure> failed{}; ///< why the request gets no connection
};
using queue = boost::intrusive::list<waiting, boost::intrusive::constant_time_size<false>>;

/// One connection of the pool, with its state.
struct seat {
    explicit seat(introduced made)
        : at{std::move(made.at)}
        , who{std::move(made.who)} {}

    const std::shared_ptr<line> at;
    portrait who;
    bool taken = false; ///< a request uses it now
    /// reserved for waiters in GET_LOCK; ordinary requests do not use it
    bool to_wait_on = false;
    bool kept = false;           ///< a waiter has reserved it
    bool in_transaction = false; ///< a transaction was left open on it
    queue named;                 ///< queue of requests that wait for this connection
    std::weak_ptr<carrier> given{};

    /// Returns whether only requests that name this connection may use it.
    bool apart() const { return kept || in_transaction; }
    bool free() const { return !taken && !apart() && !at->is_cut(); }
};

/// Table that assigns connections to requests. It does no I/O and reads no clock.
///
///   requests for any connection      ──▶ one queue for all shared connections
///   requests that name a connection  ──▶ the queue of that connection, which is served first
class seats {
public:
    using place = std::shared_ptr<seat>;

    /// Marks a free shared connection as taken and returns it. Returns null if none is free.
    place take_free();
    /// Marks this connection as taken and returns it. Returns null while another request uses it.
    place take(const place& named);
    /// Reserves a free connection for a waiter in GET_LOCK and returns it. Returns null if none is
    /// free.
    place take_spare();

    /// Puts the request at the end of the queue for shared connections.
    void wait(waiting& who) { shared_.push_back(who); }

    void add(const place& made) { all_.push_back(made); }

    /// Marks the connection as free, and assigns it to the longest-waiting request that may use it.
    /// Removes the connection instead if it is cut.
    void give_back(const place&);

    /// Removes a connection that is cut. Returns false if it was already removed.
    bool drop(const place&);

    bool anybody_waits() const { return !shared_.empty(); }
    void fail_shared(const net::failure& why);
    void fail_all(const net::failure& why);

    /// Returns the number of shared connections. The number includes connections with an open
    /// transaction, because they are shared again soon.
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
