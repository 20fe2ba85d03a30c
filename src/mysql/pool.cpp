// SPDX-License-Identifier: Apache-2.0
#include "mysql/pool.hpp"

#include "mysql/carrier_of_pool.hpp"
#include "net/later.hpp"
#include "runtime/background.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::mysql {
namespace {

net::failure failure_in(const std::vector<said>& told, const judgement& came) {
    if (came.failed == told.size())
        return {errc::outcome_unknown, "the server says that a transaction is still open"};
    const result& bad = told[came.failed].what;
    return failure_of(classify(bad.error, bad.words), bad.error, bad.words);
}

meaning meaning_of(const std::vector<said>& told, const judgement& came) {
    if (came.failed == told.size())
        return {.code = make_error_code(errc::outcome_unknown)};
    const result& bad = told[came.failed].what;
    return classify(bad.error, bad.words);
}

} // namespace

/// Guard that holds a connection for one request.
class pool::lent {
public:
    lent(std::shared_ptr<pool> from, place what)
        : from_{std::move(from)}
        , what_{std::move(what)} {}
    lent(lent&& other) noexcept
        : from_{std::move(other.from_)}
        , what_{std::move(other.what_)} {}
    ~lent() {
        if (what_)
            from_->take_back(what_);
    }

    const place& what() const { return what_; }

private:
    std::shared_ptr<pool> from_;
    place what_;
};

/// Guard that counts a running request.
class pool::room {
public:
    explicit room(pool& in)
        : in_{in} {
        ++in_.under_way_;
    }
    room(const room&) = delete;
    ~room() { --in_.under_way_; }

private:
    pool& in_;
};

pool::pool(options o, store_context c, const maker_of_lines& make)
    : how_{std::move(o)}
    , home_{std::move(c)}
    , entrance_{runtime::monitor::of(home_.executor)}
    , maker_{make(home_, how_)}
    , presence_{home_}
    , backoff_{how_.backoff_min, how_.backoff_max}
    , rest_{home_.time.make_alarm()}
    , lookout_{home_, [this] { return next_limit(); },
               [this](time_point now) { look_at_limits(now); }} {
    if (entrance_)
        entrance_->welcome(how_.connections_max);
}

bool pool::has_bells() const {
    return how_.bell && !no_bells_ && !(facts_ && facts_->has_several_writers);
}

std::string pool::address() const {
    return maker_->address_of(how_.servers.empty() ? server_address{} : how_.servers[current_]);
}

void pool::admit(const call_wishes& wishes) const {
    if (closed_)
        throw net::failure{errc::closed, address() + ": the client is closed"};
    if (!wishes.reserved && under_way_ >= how_.requests_max)
        throw net::failure{errc::overloaded, address() + ": " + std::to_string(under_way_) +
                                                 " requests wait already"};
    if (wishes.answer_by <= home_.time.now())
        throw net::failure{errc::unreachable, "not sent: its time was over before"};
}

asio::awaitable<answers> pool::run(statements& what, call_wishes wishes) {
    const auto keep = shared_from_this();
    admit(wishes);
    const room mine{*this};
    // A wait for a user lock does not count as load, because it gives the background thread no
    // work.
    const runtime::monitor::load under_way{wishes.on ? nullptr : entrance_};
    const time_point limit =
        std::min(wishes.answer_by, net::later(home_.time.now(), how_.command_timeout));
    const lent line = co_await seat_for(wishes, limit);
    for (int tries = 0;; ++tries) {
        std::optional<answers> got = co_await carry_out(line.what(), what, wishes, limit, tries);
        if (got)
            co_return std::move(*got);
        co_await pause_before_repeat();
    }
}

pool::place pool::named_by(const call_wishes& wishes) const {
    const auto* const on = dynamic_cast<const carrier_of_pool*>(wishes.on.get());
    if (!on || on->is_cut() || (!on->where()->taken && on->where()->at->has_ended()))
        throw net::failure{errc::unreachable, "not sent: its connection has ended"};
    return on->where();
}

asio::awaitable<pool::lent> pool::seat_for(const call_wishes& wishes, time_point limit) {
    const auto keep = shared_from_this();
    const place named = wishes.on ? named_by(wishes) : nullptr;
    place found = named ? seats_.take(named) : take_free();
    if (found)
        co_return lent{keep, std::move(found)};
    waiting mine{home_.time.make_alarm()};
    if (named)
        named->named.push_back(mine);
    else
        seats_.wait(mine);
    want_connection();
    while (!mine.got && !mine.failed && home_.time.now() < limit)
        co_await mine.wake->wait_until(limit);
    if (mine.failed)
        throw net::failure{*mine.failed};
    if (!mine.got)
        throw unsent();
    co_return lent{keep, std::move(mine.got)};
}

pool::place pool::take_free() {
    for (;;) {
        place found = seats_.take_free();
        if (!found || !found->at->has_ended())
            return found;
        take_back(found);
    }
}

net::failure pool::unsent() const {
    const std::string reason = trouble_         ? trouble_->text()
                               : seats_.empty() ? "no connection to " + address() + " yet"
                                                : "all connections to " + address() + " are busy";
    return {errc::unreachable, "not sent in time: " + reason};
}

void pool::take_back(const place& one) {
    one->taken = false;
    if (one->at->is_cut())
        return gone(one);
    seats_.give_back(one);
    if (!one->taken && one->at->is_unwatched())
        watch_for(unwatched_until(*one));
}

/// Sends the statements once. Returns an empty result if nothing was carried out and the request
/// shall be retried.
asio::awaitable<std::optional<answers>> pool::carry_out(const place& on, statements& what,
                                                        const call_wishes& wishes, time_point limit,
                                                        int tries) {
    using outcome = judgement::outcome;
    const std::vector<std::string> texts = what.compose(*on->at->clock(), on->who.facts);
    const bool was_open = on->at->transaction_open();
    std::vector<said> told = co_await ask(on, texts, limit);
    const judgement came = judge(told, was_open, wishes);
    on->in_transaction = came.what == outcome::left_open;
    if (came.what == outcome::carried_out || came.what == outcome::left_open)
        co_return answers_from(on, std::move(told));
    if (came.what == outcome::met_lock) {
        answers got = answers_from(on, std::move(told));
        co_await roll_back(on, wishes.undo, limit);
        co_return got;
    }

    const net::failure why = failure_in(told, came);
    const meaning means = meaning_of(told, came);
    if (came.what == outcome::unknown || means.code == errc::outcome_unknown) {
        on->at->cut({errc::outcome_unknown, why.text()});
        throw net::failure{errc::outcome_unknown, why.text()};
    }
    if (means.cut)
        on->at->cut({errc::unreachable, why.text()});
    else
        co_await roll_back(on, wishes.undo, limit);
    if (means.leave)
        leave_server(why);
    const bool in_time = home_.time.now() < limit - repeat_pause_max;
    if (!means.again || was_open || tries == repeats_max || !in_time || on->at->is_cut())
        throw net::failure{why};
    co_return std::nullopt;
}

asio::awaitable<std::vector<said>> pool::ask(const place& on, const std::vector<std::string>& texts,
                                             time_point limit) {
    watch_for(limit);
    std::optional<net::failure> failed;
    try {
        co_return co_await on->at->ask(texts, limit);
    } catch (const net::failure& why) {
        failed = why;
    }
    if (home_.time.now() >= limit)
        distrust(on->at->sent_at());
    throw net::failure{*failed};
}

/// Rolls back a transaction that may be open. After an error it is unknown whether a transaction is
/// open. The next request must not find an open transaction.
asio::awaitable<void> pool::roll_back(const place& on, const std::string* undo, time_point limit) {
    std::vector<std::string> texts{"ROLLBACK"};
    if (undo)
        texts.push_back(*undo);
    bool done = false;
    try {
        const std::vector<said> told = co_await ask(on, texts, limit);
        done = told.front().what.error == 0 && told.back().what.error == 0 && !told.back().open;
    } catch (const net::failure&) {
        // The server rolls back the transaction when the connection ends.
    }
    if (!done)
        on->at->cut({errc::unreachable, "its transaction could not be rolled back"});
}

/// Pauses for a random time. Two requests that caused a deadlock are then unlikely to meet again.
asio::awaitable<void> pool::pause_before_repeat() {
    waiting mine{home_.time.make_alarm()};
    pausing_.push_back(mine);
    const auto longest = static_cast<std::uint64_t>(repeat_pause_max.count());
    const duration length{static_cast<duration::rep>(1 + home_.random() % longest)};
    const time_point end = net::later(home_.time.now(), length);
    while (!mine.failed && home_.time.now() < end)
        co_await mine.wake->wait_until(end);
    if (mine.failed)
        throw net::failure{*mine.failed};
}

answers pool::answers_from(const place& on, std::vector<said> told) {
    answers made;
    made.of.reserve(told.size());
    for (said& each : told)
        made.of.push_back(std::move(each.what));
    made.sent_at = on->at->sent_at();
    made.received_at = on->at->heard_at();
    made.clock = on->at->clock();
    made.by = carrier_of(on);
    made.server = on->who.facts.address;
    return made;
}

std::shared_ptr<carrier> pool::carrier_of(const place& on) {
    std::shared_ptr<carrier> there = on->given.lock();
    if (!there) {
        there = std::make_shared<carrier_of_pool>(shared_from_this(), on);
        on->given = there;
    }
    return there;
}

/// Cleans up a connection after its handle was destroyed. If the connection is idle and can have
/// only user locks, releases the user locks. Otherwise cuts the connection, so that the server ends
/// everything on it.
void pool::let_go(const place& one) {
    if (closed_)
        return;
    const bool can_be_cleaned = !one->in_transaction && !one->taken && !one->at->is_cut();
    if (one->kept && can_be_cleaned) {
        one->taken = true;
        runtime::run_in_background(home_, clean(shared_from_this(), one));
        return;
    }
    if (one->apart())
        one->at->cut({errc::outcome_unknown, "nobody uses this connection any more"});
    if (one->at->is_cut() && !one->taken)
        gone(one);
}

asio::awaitable<void> pool::clean(std::shared_ptr<pool>, place one) {
    const std::vector<std::string> text{"DO RELEASE_ALL_LOCKS()"};
    const time_point limit = net::later(home_.time.now(), how_.command_timeout);
    bool done = false;
    try {
        const std::vector<said> told = co_await ask(one, text, limit);
        done = told[0].what.error == 0 && !told[0].open;
    } catch (const net::failure&) {
        // The connection is already cut and has no user locks any more.
    }
    if (done)
        one->kept = false;
    else
        one->at->cut({errc::unreachable, "its user locks could not be given back"});
    take_back(one);
}

void pool::close() noexcept {
    if (std::exchange(closed_, true)) // the second call may come on any thread
        return;
    const net::failure why{errc::closed, address() + ": the client is closed"};
    maker_->close();
    seats_.fail_all(why);
    seats::fail(pausing_, std::make_shared<const net::failure>(why));
    const std::vector<place> all = seats_.all();
    for (const place& each : all) {
        if (each->taken)
            each->at->cut(why);
        else
            each->at->end();
    }
    rest_->ring();
    lookout_.close();
}

} // namespace holdfast::mysql
