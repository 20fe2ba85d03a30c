// SPDX-License-Identifier: Apache-2.0
#include "mysql/connection_pool.hpp"

#include "mysql/connecting.hpp"
#include "net/deadlines.hpp"
#include "runtime/background.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <exception>

namespace holdfast::mysql {
namespace {

net::failure failure_in(const std::vector<statement_answer>& told, const classification& came) {
    if (came.failed == told.size())
        return {errc::outcome_unknown, "the server says that a transaction is still open"};
    const result& bad = told[came.failed].what;
    return failure_of(classify(bad.error, bad.words), bad.error, bad.words);
}

meaning meaning_of(const std::vector<statement_answer>& told, const classification& came) {
    if (came.failed == told.size())
        return {.code = make_error_code(errc::outcome_unknown)};
    const result& bad = told[came.failed].what;
    return classify(bad.error, bad.words);
}

} // namespace

/// Guard that keeps a connection taken for one request.
class pool::borrowed_connection {
public:
    borrowed_connection(std::shared_ptr<pool> from, pooled_ptr what)
        : from_{std::move(from)}
        , what_{std::move(what)} {}
    borrowed_connection(borrowed_connection&& other) noexcept
        : from_{std::move(other.from_)}
        , what_{std::move(other.what_)} {}
    ~borrowed_connection() {
        if (what_)
            from_->take_back(what_);
    }

    const pooled_ptr& what() const { return what_; }

private:
    std::shared_ptr<pool> from_;
    pooled_ptr what_;
};

/// Guard that counts a running request.
class pool::counted_request {
public:
    explicit counted_request(pool& in)
        : in_{in} {
        ++in_.under_way_;
    }
    counted_request(const counted_request&) = delete;
    ~counted_request() { --in_.under_way_; }

private:
    pool& in_;
};

pool::pool(options o, store_context c, const factory_maker& make)
    : how_{std::move(o)}
    , home_{std::move(c)}
    , monitor_{runtime::monitor::of(home_.executor)}
    , maker_{make(home_, how_)}
    , connectivity_{home_}
    , backoff_{how_.backoff_min, how_.backoff_max}
    , rest_{home_.time.make_alarm()}
    , deadline_timer_{home_, [this] { return next_limit(); },
                      [this](time_point now) { look_at_limits(now); }} {
    if (monitor_)
        monitor_->welcome(how_.connections_max);
}

bool pool::has_bells() const {
    return how_.bell && !no_bells_ && !(facts_ && facts_->has_several_writers);
}

std::string pool::address() const {
    return maker_->address_of(how_.servers.empty() ? server_address{} : how_.servers[current_]);
}

void pool::admit(const call_options& options) const {
    if (closed_)
        throw net::failure{errc::closed, address() + ": the client is closed"};
    if (!options.reserved && under_way_ >= how_.requests_max)
        throw net::failure{errc::overloaded, address() + ": " + std::to_string(under_way_) +
                                                 " requests wait already"};
    if (options.answer_by <= home_.time.now())
        throw net::failure{errc::unreachable, "not sent: its timeout expired first"};
}

asio::awaitable<answers> pool::run(statements& what, call_options options) {
    const auto keep = shared_from_this();
    admit(options);
    const counted_request mine{*this};
    // Do not count a request on the caller's own connection as load. Such a request may wait for a
    // user lock (GET_LOCK), which gives the background thread no work.
    const runtime::monitor::load under_way{options.on ? nullptr : monitor_};
    const time_point limit =
        std::min(options.answer_by, net::later(home_.time.now(), how_.command_timeout));
    const borrowed_connection borrowed = co_await connection_for(options, limit);
    for (int tries = 0;; ++tries) {
        std::optional<answers> got =
            co_await carry_out(borrowed.what(), what, options, limit, tries);
        if (got)
            co_return std::move(*got);
        co_await pause_before_repeat();
    }
}

pool::pooled_ptr pool::named_by(const call_options& options) const {
    const auto* const on = dynamic_cast<const pinned_connection_of_pool*>(options.on.get());
    if (!on || on->is_cut() || (!on->where()->taken && on->where()->at->has_ended()))
        throw net::failure{errc::unreachable, "not sent: its connection has ended"};
    return on->where();
}

asio::awaitable<pool::borrowed_connection> pool::connection_for(const call_options& options,
                                                                time_point limit) {
    const auto keep = shared_from_this();
    const pooled_ptr named = options.on ? named_by(options) : nullptr;
    pooled_ptr found = named ? table_.take(named) : take_free();
    if (found)
        co_return borrowed_connection{keep, std::move(found)};
    waiting mine{home_.time.make_alarm()};
    if (named)
        named->named.push_back(mine);
    else
        table_.wait(mine);
    want_connection();
    while (!mine.got && !mine.failed && home_.time.now() < limit)
        co_await mine.wake->wait_until(limit);
    if (mine.failed)
        throw net::failure{*mine.failed};
    if (!mine.got)
        throw unsent();
    co_return borrowed_connection{keep, std::move(mine.got)};
}

pool::pooled_ptr pool::take_free() {
    for (;;) {
        pooled_ptr found = table_.take_free();
        if (!found || !found->at->has_ended())
            return found;
        take_back(found);
    }
}

net::failure pool::unsent() const {
    const std::string reason = trouble_         ? trouble_->text()
                               : table_.empty() ? "no connection to " + address() + " yet"
                                                : "all connections to " + address() + " are busy";
    return {errc::unreachable, "not sent in time: " + reason};
}

void pool::take_back(const pooled_ptr& one) {
    one->taken = false;
    if (one->at->is_cut())
        return gone(one);
    table_.give_back(one);
    if (!one->taken && one->at->is_unwatched())
        watch_for(unwatched_until(*one));
}

/// Sends the statements once. Returns an empty result if the server executed nothing and the
/// request must be sent again.
asio::awaitable<std::optional<answers>> pool::carry_out(const pooled_ptr& on, statements& what,
                                                        const call_options& options,
                                                        time_point limit, int tries) {
    using outcome = classification::outcome;
    const std::vector<std::string> texts = what.compose(*on->at->clock(), on->who.facts);
    const bool was_open = on->at->transaction_open();
    std::vector<statement_answer> told = co_await ask(on, texts, limit);
    const classification came = classify(told, was_open, options);
    on->in_transaction = came.what == outcome::left_open;
    if (came.what == outcome::carried_out || came.what == outcome::left_open)
        co_return answers_from(on, std::move(told));
    if (came.what == outcome::met_lock) {
        answers got = answers_from(on, std::move(told));
        co_await roll_back(on, options.undo, limit);
        co_return got;
    }

    const net::failure why = failure_in(told, came);
    const meaning means = meaning_of(told, came);
    const duration took = on->at->heard_at() - on->at->sent_at();
    if (came.what == outcome::unknown || means.code == errc::outcome_unknown) {
        on->at->cut({errc::outcome_unknown, why.text()});
        throw net::failure{errc::outcome_unknown, why.text()};
    }
    if (means.cut)
        on->at->cut({errc::unreachable, why.text()});
    else
        co_await roll_back(on, options.undo, limit);
    if (means.leave)
        leave_server(why);
    // Repeat the request only if enough time is left. A repetition may take as long as this
    // attempt. If the deadline came during the repetition, the outcome would be unknown.
    const bool in_time = net::later(home_.time.now(), took) < limit - repeat_pause_max;
    if (!means.again || was_open || tries == repeats_max || !in_time || on->at->is_cut())
        throw net::failure{why};
    co_return std::nullopt;
}

asio::awaitable<std::vector<statement_answer>>
pool::ask(const pooled_ptr& on, const std::vector<std::string>& texts, time_point limit) {
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

/// Rolls back a transaction that may be open. After an error, it is unknown whether a transaction
/// is open. If one is open, the next request must not run inside it.
asio::awaitable<void> pool::roll_back(const pooled_ptr& on, const std::string* undo,
                                      time_point limit) {
    std::vector<std::string> texts{"ROLLBACK"};
    if (undo)
        texts.push_back(*undo);
    bool done = false;
    try {
        const std::vector<statement_answer> told = co_await ask(on, texts, limit);
        done = told.front().what.error == 0 && told.back().what.error == 0 && !told.back().open;
    } catch (const net::failure&) {
        // Ignore the failure of the rollback: when the connection ends, the server rolls back the
        // transaction.
    }
    if (!done)
        on->at->cut({errc::unreachable, "its transaction could not be rolled back"});
}

/// Pauses for a random time. If two requests have caused a deadlock, they then probably do not run
/// at the same time again.
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

answers pool::answers_from(const pooled_ptr& on, std::vector<statement_answer> told) {
    answers made;
    made.of.reserve(told.size());
    for (statement_answer& each : told)
        made.of.push_back(std::move(each.what));
    made.sent_at = on->at->sent_at();
    made.received_at = on->at->heard_at();
    made.clock = on->at->clock();
    made.by = pinned_connection_of(on);
    made.server = on->who.facts.address;
    return made;
}

std::shared_ptr<pinned_connection> pool::pinned_connection_of(const pooled_ptr& on) {
    std::shared_ptr<pinned_connection> there = on->given.lock();
    if (!there) {
        there = std::make_shared<pinned_connection_of_pool>(shared_from_this(), on);
        on->given = there;
    }
    return there;
}

/// Cleans up a connection after its handle was destroyed. If the connection is idle and has no open
/// transaction, releases its user locks (GET_LOCK). Otherwise cuts the connection. The server then
/// ends the statement and the transaction, and releases the user locks.
void pool::let_go(const pooled_ptr& one) {
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

asio::awaitable<void> pool::clean(std::shared_ptr<pool>, pooled_ptr one) {
    const std::vector<std::string> text{"DO RELEASE_ALL_LOCKS()"};
    const time_point limit = net::later(home_.time.now(), how_.command_timeout);
    bool done = false;
    try {
        const std::vector<statement_answer> told = co_await ask(one, text, limit);
        done = told[0].what.error == 0 && !told[0].open;
    } catch (const net::failure&) {
        // Ignore the failure. The connection is cut, so the server releases its user locks.
    }
    if (done)
        one->kept = false;
    else
        one->at->cut({errc::unreachable, "its user locks could not be given back"});
    take_back(one);
}

void pool::close() noexcept {
    if (std::exchange(closed_, true)) // the second call may be on any thread
        return;
    const net::failure why{errc::closed, address() + ": the client is closed"};
    maker_->close();
    table_.fail_all(why);
    connection_table::fail(pausing_, std::make_shared<const net::failure>(why));
    const std::vector<pooled_ptr> all = table_.all();
    for (const pooled_ptr& each : all) {
        if (each->taken)
            each->at->cut(why);
        else
            each->at->end();
    }
    rest_->ring();
    deadline_timer_.close();
}

// Functions of the pool that make connections and handle the end of connections.

namespace {

/// Joins the failures of all servers that were tried into one failure. The joined failure has the
/// code `unreachable` if one of the failures has it: an unreachable server may come back soon, but
/// a refusal will probably stay.
net::failure joined(const std::vector<net::failure>& all) {
    const auto passing = std::ranges::find_if(
        all, [](const net::failure& each) { return each.code() == errc::unreachable; });
    std::string text;
    for (const net::failure& each : all)
        text += (text.empty() ? "" : "; ") + each.text();
    return {passing != all.end() ? passing->code() : all.front().code(), std::move(text)};
}

void tell_moved_to(const store_context& home, const std::string& address) {
    const std::string told_by = "the connection";
    if (home.tell)
        home.tell({.kind = event_kind::moved,
                   .name = address.data(),
                   .name_size = address.size(),
                   .text = told_by.data(),
                   .text_size = told_by.size()});
}

class one_more {
public:
    explicit one_more(std::size_t& of)
        : of_{of} {
        ++of_;
    }
    one_more(const one_more&) = delete;
    ~one_more() { --of_; }

private:
    std::size_t& of_;
};

} // namespace

bool pool::wants_connection() const {
    if (closed_)
        return false;
    if (table_.anybody_waits())
        return table_.shared_count() < how_.connections_max;
    return table_.empty() && !server_.empty() && home_.holds_any && home_.holds_any();
}

void pool::want_connection() {
    if (wants_connection() && !std::exchange(connecting_, true))
        runtime::run_in_background(home_, keep_connecting(shared_from_this()));
}

asio::awaitable<void> pool::keep_connecting(std::shared_ptr<pool>) {
    // The caller begins to wait only after this function has returned to it. So continue in a later
    // handler.
    co_await asio::post(home_.executor, asio::use_awaitable);
    while (wants_connection()) {
        if (home_.time.now() < not_before_) {
            co_await rest_->wait_until(not_before_);
            continue;
        }
        std::optional<net::failure> failed;
        try {
            introduced made = co_await make_connection(time_point::max());
            table_.give_back(join(std::move(made), false));
        } catch (const net::failure& why) {
            failed = why;
        } catch (const std::exception& why) { // out of memory or threads: this loop must continue
            failed.emplace(errc::unreachable, why.what());
        }
        if (failed && !closed_)
            attempt_failed(*failed);
    }
    connecting_ = false;
}

asio::awaitable<introduced> pool::make_connection(time_point limit) {
    const time_point give_up_at =
        std::min(limit, net::later(home_.time.now(), how_.connect_timeout));
    const server_address where = how_.servers.empty() ? server_address{} : how_.servers[current_];
    introduced made = co_await maker_->make(where, give_up_at);
    const bool is_the_one = how_.servers.empty() || where == how_.servers[current_];
    const bool is_still_wanted = !closed_ && is_the_one;
    if (!is_still_wanted) {
        made.at->end();
        throw net::failure{closed_ ? errc::closed : errc::unreachable,
                           "this connection is not needed any more: " + maker_->address_of(where)};
    }
    co_return made;
}

/// Handles a failed attempt to connect. Each server is tried once before the failure is reported
/// and the client pauses. While the pool has connections to one server, it tries no other server,
/// even if that one server accepts no more connections.
void pool::attempt_failed(const net::failure& why) {
    trouble_ = why;
    round_.push_back(why);
    if (table_.empty() && round_.size() < how_.servers.size()) {
        current_ = (current_ + 1) % how_.servers.size();
        return;
    }
    const net::failure all = joined(std::exchange(round_, {}));
    pause_connecting();
    if (table_.empty()) {
        if (!how_.servers.empty())
            current_ = (current_ + 1) % how_.servers.size();
        connectivity_.gone(address(), all);
    }
    if (table_.shared_count() == 0)
        table_.fail_shared(all);
}

void pool::pause_connecting() {
    duration length = backoff_.next(home_.random());
    if (home_.holds_any && home_.holds_any())
        length = std::min(length, pause_max_while_holding);
    not_before_ = net::later(home_.time.now(), length);
}

pool::pooled_ptr pool::join(introduced made, bool to_wait_on) {
    auto one = std::make_shared<pooled_connection>(std::move(made));
    one->taken = true; // reserve it for the first user
    one->to_wait_on = one->kept = to_wait_on;
    one->at->on_lost = [self = weak_from_this(), pooled_connection = std::weak_ptr{one}] {
        const auto here = self.lock();
        const auto it = pooled_connection.lock();
        if (here && it)
            here->gone(it);
    };
    round_.clear();
    trouble_.reset();
    meet(one->who);
    table_.add(one);
    watch_for(idle_until(*one));
    return one;
}

/// Stores which server a new connection has reached. After a reconnection, the server may have lost
/// all holds, so the client asks about them (`revalidate`).
void pool::meet(const server_info& who) {
    const time_point now = home_.time.now();
    const bool is_first = server_.empty();
    const bool is_other = !is_first && who.server != server_;
    const bool was_away = table_.empty() && !is_first;
    // Use only the server of the newest connection if one host name has several servers. The
    // exception is a cluster in which all servers have the same locks.
    const bool replaces = is_other && !was_away && !who.facts.has_several_writers;
    if (replaces)
        cut_all({errc::outcome_unknown, "another server answers at " + who.facts.address + " now"});
    // The server reports its uptime in whole seconds, so the reported uptime may be wrong by one
    // second.
    const bool restarted = was_away && who.uptime <= now - last_heard_ + std::chrono::seconds{1};
    facts_ = who.facts;
    server_ = who.server;
    if (table_.empty()) {
        connected_since_ = now;
        connectivity_.back(address());
    }
    if (replaces || (is_other && was_away))
        tell_moved_to(home_, who.facts.address);
    if ((replaces || was_away) && home_.revalidate)
        home_.revalidate({}, is_other || restarted);
}

/// Removes a connection that has ended. A second call for the same connection does no harm.
void pool::gone(const pooled_ptr& one) {
    if (!table_.drop(one) || closed_)
        return;
    if (table_.empty()) {
        const time_point now = home_.time.now();
        last_heard_ = now;
        // Reset the backoff only after a longer connection, because a server may close each new
        // connection at once.
        if (now - connected_since_ > how_.backoff_max)
            backoff_.reset();
        pause_connecting();
        connectivity_.gone(address(), one->at->why());
    }
    want_connection();
}

/// Cuts all connections to a server that accepts no writes. The pool then tries the next server.
void pool::leave_server(const net::failure& why) {
    if (how_.servers.size() > 1) {
        round_.assign(1, why);
        current_ = (current_ + 1) % how_.servers.size();
    }
    trouble_ = why;
    cut_all({errc::unreachable, "the client stopped using the server: " + why.text()});
    if (how_.servers.size() > 1)
        not_before_ = time_point::min();
}

void pool::cut_all(const net::failure& why) {
    const std::vector<pooled_ptr> all = table_.all();
    for (const pooled_ptr& each : all) {
        each->at->cut(why);
        if (!each->taken)
            gone(each);
    }
}

asio::awaitable<std::shared_ptr<pinned_connection>> pool::connection_to_wait_on(time_point limit) {
    const auto keep = shared_from_this();
    if (closed_)
        throw net::failure{errc::closed, address() + ": the client is closed"};
    if (!has_bells())
        co_return nullptr;
    if (const pooled_ptr spare = table_.take_spare())
        co_return pinned_connection_of(spare);
    if (table_.to_wait_on_count() + to_be_waited_on_ >= how_.wait_connections_max)
        co_return nullptr;
    const one_more mine{to_be_waited_on_};
    introduced made = co_await make_connection(limit);
    const pooled_ptr one = join(std::move(made), true);
    one->taken = false;
    co_return pinned_connection_of(one);
}

// Functions of the pool that end calls that take too long, and that keep idle connections alive.

time_point pool::idle_until(const pooled_connection& one) const {
    return net::later(one.at->heard_at(), how_.keep_alive);
}

/// Returns the time until which the socket of an idle connection may stay unwatched. Returns
/// `time_point::max()` if the socket is watched already, or if the connection is in use.
time_point pool::unwatched_until(const pooled_connection& one) const {
    return !one.taken && one.at->is_unwatched() ? net::later(one.at->heard_at(), unwatched_max)
                                                : time_point::max();
}

time_point pool::next_limit() const {
    time_point first = time_point::max();
    for (const pooled_ptr& each : table_.all()) {
        const bool idle = !each->taken && !each->in_transaction;
        first = std::min(
            {first, each->at->limit(), unwatched_until(*each), idle ? idle_until(*each) : first});
    }
    return first;
}

void pool::look_at_limits(time_point now) {
    const std::vector<pooled_ptr> all = table_.all();
    for (const pooled_ptr& each : all) {
        if (unwatched_until(*each) <= now) {
            each->at->watch();
            if (each->at->is_cut()) {
                gone(each);
                continue;
            }
        }
        if (each->at->limit() <= now)
            each->at->cut(
                {errc::outcome_unknown, each->who.facts.address + " did not answer in time"});
        else if (!each->taken && !each->in_transaction && idle_until(*each) <= now) {
            each->taken = true;
            runtime::run_in_background(home_, use_idle(shared_from_this(), each));
        }
    }
}

/// Sends a keep-alive on an idle connection, so that no firewall or proxy drops it. The answer also
/// shows whether the server still accepts writes.
asio::awaitable<void> pool::use_idle(std::shared_ptr<pool>, pooled_ptr one) {
    const time_point limit = net::later(home_.time.now(), how_.command_timeout);
    watch_for(limit);
    std::optional<net::failure> failed;
    try {
        server_info now = co_await look_again(*one->at, limit);
        now.facts.address = one->who.facts.address;
        now.facts.over_tls = one->who.facts.over_tls;
        one->who = std::move(now);
        facts_ = one->who.facts;
    } catch (const net::failure& why) {
        failed = why;
    }
    if (failed) {
        one->at->cut(*failed);
        if (failed->code() == store_errc::read_only || failed->code() == store_errc::unfit)
            leave_server(*failed);
    }
    take_back(one);
}

/// Cuts idle connections after a request got no answer, because the idle connections may be dead,
/// too. `unheard_since` is the time when that request was sent. An idle connection that has
/// received something since then stays.
void pool::distrust(time_point unheard_since) {
    const std::vector<pooled_ptr> all = table_.all();
    for (const pooled_ptr& each : all)
        if (each->free() && each->at->heard_at() < unheard_since) {
            each->at->cut({errc::unreachable, "the server does not answer"});
            gone(each);
        }
}

/// Returns the free connection that was used most recently. So connections that are not needed stay
/// idle and can be closed.
connection_table::pooled_ptr connection_table::take_free() {
    pooled_ptr best;
    for (const pooled_ptr& each : all_)
        if (each->free() && !each->to_wait_on &&
            (!best || each->at->heard_at() > best->at->heard_at()))
            best = each;
    if (best)
        best->taken = true;
    return best;
}

connection_table::pooled_ptr connection_table::take(const pooled_ptr& named) {
    if (named->taken)
        return nullptr;
    named->taken = true;
    return named;
}

connection_table::pooled_ptr connection_table::take_spare() {
    const auto found = std::ranges::find_if(
        all_, [](const pooled_ptr& each) { return each->to_wait_on && each->free(); });
    if (found == all_.end())
        return nullptr;
    (*found)->kept = true;
    return *found;
}

void connection_table::give_back(const pooled_ptr& one) {
    one->taken = false;
    if (one->at->is_cut()) {
        drop(one);
        return;
    }
    if (!one->named.empty())
        hand(one->named, one);
    else if (!one->apart() && !one->to_wait_on && !shared_.empty())
        hand(shared_, one);
}

void connection_table::hand(queue& to, const pooled_ptr& one) {
    waiting& first = to.front();
    to.pop_front();
    one->taken = true;
    first.got = one;
    first.wake->ring();
}

bool connection_table::drop(const pooled_ptr& one) {
    if (std::erase(all_, one) == 0)
        return false;
    fail(one->named, std::make_shared<const net::failure>(errc::unreachable,
                                                          "not sent: its connection has ended"));
    return true;
}

void connection_table::fail(queue& all, const std::shared_ptr<const net::failure>& why) {
    while (!all.empty()) {
        waiting& first = all.front();
        all.pop_front();
        first.failed = why;
        first.wake->ring();
    }
}

void connection_table::fail_shared(const net::failure& why) {
    fail(shared_, std::make_shared<const net::failure>(why));
}

void connection_table::fail_all(const net::failure& why) {
    const auto shared = std::make_shared<const net::failure>(why);
    fail(shared_, shared);
    for (const pooled_ptr& each : all_)
        fail(each->named, shared);
}

std::size_t connection_table::shared_count() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(all_, [](const pooled_ptr& each) { return !each->to_wait_on; }));
}

std::size_t connection_table::to_wait_on_count() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(all_, [](const pooled_ptr& each) { return each->to_wait_on; }));
}

} // namespace holdfast::mysql
