// SPDX-License-Identifier: Apache-2.0
// Requests that calling threads send themselves, and whose answers they read.
//
// All calling threads (visitors) share the session's connection. Each of them sends its own
// request. One of them reads the answers of all: it wakes the visitors whose answers came, and
// posts the other answers to the background thread. When it leaves, the visitor that came last goes
// on reading, or else the background thread. The system may not run the reading thread for a long
// time. So the background thread also reads what has arrived at each heartbeat (keeper_limits.cpp).
#include "runtime/background.hpp"
#include "zookeeper/keeper.hpp"

#include <exception>
#include <utility>

namespace holdfast::zookeeper {

/// Returns the calling thread's `visit` (its stay in the client's monitor) if that thread may run
/// its request itself. Otherwise null.
runtime::visit* keeper::caller() const {
    return entrance_ && connected_ && line_->bare() ? entrance_->visitor() : nullptr;
}

/// Runs the request on the calling thread. If the request is still not settled afterwards, the
/// caller waits for it through Asio.
void keeper::settle_by(runtime::visit& caller, request& asked) {
    visitor mine{caller, asked};
    flush_by(mine);
    wait_by(mine);
}

/// Sends the queued requests. The write happens outside the monitor. Other threads can queue
/// requests during the write, and these requests are sent too.
void keeper::flush_by(visitor& mine) {
    const shared_connection line = line_;
    while (connected_ && line_ == line && line->can_send()) {
        compose_queued(line->outbox());
        if (line->outbox().empty() || !line->begin_sending())
            return;
        mine.outside([&line]() noexcept { line->write_begun(); });
        if (!line->end_sending())
            runtime::run_in_background(home_, finish_sending(shared_from_this(), line));
    }
}

void keeper::wait_by(visitor& mine) {
    visitors_.push_back(mine);
    while (mine.waits())
        if (!read_by(mine) && mine.waits())
            mine.rest();
    visitors_.erase(visitors_.iterator_to(mine));
    hand_reading_on();
}

bool keeper::can_be_read_here() const {
    return connected_ && line_->bare() && !line_->is_cut() && !reader_;
}

/// Reads answers until this thread's request is settled. Returns false if another thread is
/// reading. That thread wakes this thread.
bool keeper::read_by(visitor& mine) {
    if (!can_be_read_here())
        return false;
    const shared_connection line = line_;
    reader_ = &mine;
    line->bare()->look_away(true);
    bool well = true;
    while (mine.waits() && !line->is_cut() && (well = reading_.prepare()))
        if (mine.wait_for(line->bare()->number(), reading_))
            hear_arrived(*line);
    reader_ = nullptr;
    if (!well)
        line->bare()->look_away(false);
    return well && !line->is_cut();
}

void keeper::hear_arrived(connection& line) {
    try {
        line.take_arrived();
        while (const auto frame = line.next())
            hear(*frame);
    } catch (const net::failure& why) {
        line.cut(why);
    } catch (const std::exception& why) {
        line.cut({errc::outcome_unknown, why.what()});
    }
}

/// Lets another thread read from the socket. Chooses the visitor that arrived last, because it will
/// probably wait longest. If there is no visitor, the background thread reads.
void keeper::hand_reading_on() {
    if (!can_be_read_here() || !line_->bare()->looks_away())
        return;
    if (visitors_.empty())
        line_->bare()->look_away(false);
    else
        visitors_.back().wake(entrance_->visitor());
}

} // namespace holdfast::zookeeper
