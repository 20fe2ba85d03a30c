// SPDX-License-Identifier: Apache-2.0
#include "world.hpp"

#include "store/redis/names.hpp"
#include "store/redis/redis_store.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <utility>

namespace holdfast::handing {
namespace {

const lock_name name{"L"};

constexpr duration poll_bound{2000};
constexpr duration contended_for{6000};

/// Longest time for which a lock may stay free although a live client waits: the claim time, and
/// two requests of a client in the queue, plus the network.
constexpr duration idle_most{4500};

/// Number of acquisitions by others that a waiting client may see before its own.
constexpr std::size_t overtaken_most = 300;

} // namespace

/// One client: its process, its connections, and its state.
struct world::seat {
    seat(asio::io_context& io, asio::execution_context& services, bool has_hand_off)
        : at{io}
        , executor{at.executor(services)}
        , direct{has_hand_off} {}
    process at;
    asio::any_io_executor executor;
    const bool direct;
    simulated_node* node = nullptr;
    std::unique_ptr<client> program;
    std::string id;
    bool is_dead = false;
    int running = 0; ///< number of callers that have not ended
};

world::world(std::uint64_t seed, const server::edit* fault)
    : dice_{seed}
    , calm_{dice_.percent(25)}
    , crowded_{calm_ && dice_.percent(50)}
    , all_direct_{dice_.percent(70)}
    , fenced_{dice_.one_of({0, 0, 50, 100})}
    , lease_time_{dice_.one_of({duration{6000}, duration{6000}, duration{2000}, duration{3000}})}
    , server_{clock_, dice_.split(), 1 + dice_.between(-5, 5) / 1000.0,
              dice_.between(0, 1) * 1'700'000'000'000'000 + dice_.between(0, 1'000'000'000)} {
    server_.plant(fault);
    server_.ran = [this](std::string_view script) { check_grant(script); };
    if (!calm_) {
        weather_.delay = duration{dice_.one_of({0, 1, 3, 20})};
        weather_.lost_requests = dice_.one_of({0, 0, 5, 30});
        weather_.lost_replies = dice_.one_of({0, 0, 5, 30});
        weather_.lost_messages = dice_.one_of({0, 0, 20, 300});
        weather_.slow_requests = dice_.one_of({0, 0, 5, 30});
        weather_.slow_messages = dice_.one_of({0, 0, 30, 200});
        weather_.repeated_messages = dice_.one_of({0, 0, 50, 300});
    }
    const int clients = crowded_ ? dice_.between(4, 6) : dice_.between(2, 6);
    for (int i = 0; i < clients; ++i)
        add_client();
    if (!calm_)
        plan_faults();
}

/// Lets all callers end, also those of dead clients, because a coroutine must not outlive the
/// world.
world::~world() {
    ending_ = is_over_ = true;
    weather_ = weather{};
    for (seat& each : seats_)
        each.at.resume();
    const auto play_on = [this](duration length) {
        const time_point end = clock_.now() + length;
        do
            while (clock_.step())
                ;
        while (clock_.jump_to_next(end));
    };
    play_on(std::chrono::seconds{120});
    for (seat& each : seats_)
        each.program.reset();
    play_on(std::chrono::seconds{20});
    events_.clear();
}

void world::add_client() {
    seat& made = seats_.emplace_back(io_, services_, all_direct_ || dice_.percent(60));
    options how;
    how.store = [this, &made](store_context context) {
        simulated_node::surroundings around{clock_,
                                            events_,
                                            server_,
                                            made.at,
                                            made.executor,
                                            is_down_,
                                            [this](std::string text) { fail(std::move(text)); },
                                            [this] { note_fault(); }};
        auto node = std::make_unique<simulated_node>(std::move(around), dice_.split(), weather_,
                                                     made.direct);
        made.node = node.get();
        return std::make_unique<redis::redis_store>(std::move(node), std::move(context));
    };
    how.lease_time = lease_time_;
    how.unavailable_timeout = duration{4000};
    how.release_timeout = duration{1500};
    how.close_timeout = duration{1000};
    how.poll_bound = poll_bound;
    how.announce = false;
    how.hand_off.within = dice_.one_of({duration{5}, duration{5}, duration{200}});
    how.executor_is_serial = true;
    how.random = [dice = dice_.split()]() mutable { return dice.roll(); };
    made.program = std::make_unique<client>(made.executor, clock_, std::move(how));
    made.id = made.program->id();
    const int callers = crowded_ ? 1 : dice_.between(1, 2);
    for (int i = 0; i < callers; ++i) {
        ++made.running;
        asio::co_spawn(made.executor, live(made), [](const std::exception_ptr& bug) {
            if (bug)
                std::rethrow_exception(bug);
        });
    }
}

void world::plan_faults() {
    const int stops = dice_.one_of({0, 0, 1, 3}), deaths = dice_.one_of({0, 0, 0, 1, 2});
    const int cuts = dice_.one_of({0, 0, 2}), restarts = dice_.one_of({0, 0, 0, 1});
    const auto when = [this] { return dice_.between(duration{1}, contended_for); };
    for (int i = 0; i < stops; ++i)
        events_.after(when(), [this] { stop_one(); });
    for (int i = 0; i < deaths; ++i)
        events_.after(when(), [this] { kill_one(); });
    for (int i = 0; i < cuts; ++i)
        events_.after(when(), [this] { seats_[dice_.below(seats_.size())].node->disconnect(); });
    for (int i = 0; i < restarts; ++i)
        events_.after(when(), [this] { restart(dice_.percent(60)); });
}

void world::stop_one() {
    seat& one = seats_[dice_.below(seats_.size())];
    if (is_over_ || one.is_dead || one.at.is_stopped())
        return;
    note_fault();
    one.at.stop();
    events_.after(dice_.between(duration{50}, duration{dice_.one_of({500, 3000, 9000})}),
                  [this, &one] {
                      note_fault();
                      if (!one.is_dead)
                          one.at.resume();
                  });
}

void world::kill_one() {
    seat& one = seats_[dice_.below(seats_.size())];
    if (is_over_ || one.is_dead)
        return;
    note_fault();
    one.is_dead = true;
    one.at.stop();
    events_.after(dice_.one_of({duration{0}, duration{0}, duration{3000}, duration{15000}}),
                  [this, &one] {
                      note_fault();
                      if (!is_over_)
                          one.node->vanish();
                  });
}

/// Lets the server end. After a while it comes back empty, or its replica takes over.
void world::restart(bool from_replica) {
    if (is_over_)
        return;
    const server::content copy = from_replica ? server_.data() : server::content{};
    const duration lag = from_replica ? dice_.between(duration{0}, duration{300}) : duration{0};
    events_.after(lag, [this, copy] {
        is_down_ = true;
        note_fault();
        for (seat& each : seats_)
            each.node->disconnect();
        events_.after(dice_.between(duration{0}, duration{1500}), [this, copy] {
            const bool other_machine = dice_.percent(50) && copy.empty();
            server_.replace(copy);
            may_forget_tokens_ = true;
            holder_ = server_.holder(name.text);
            if (other_machine)
                server_.set_clock(server_.time() + dice_.between(-3'000'000, 3'000'000));
            is_down_ = false;
            for (seat& each : seats_)
                if (!each.is_dead)
                    each.node->disconnect();
            note_fault();
            excused_until_ = clock_.now() + lease_time_ + duration{200};
        });
    });
    excused_until_ = clock_.now() + std::chrono::hours{1}; // until the server is back
}

void world::fail(std::string text) {
    if (verdict_.empty())
        verdict_ = std::move(text) + ", at " +
                   std::to_string((clock_.now() - time_point{std::chrono::hours{24}}).count()) +
                   " ms";
}

duration world::draw_timeout() {
    return dice_.between(duration{1}, duration{dice_.one_of({20, 3000})});
}

duration world::draw_cancellation() {
    return dice_.between(duration{0}, duration{dice_.one_of({5, 50, 2500})});
}

duration world::draw_pause() {
    return dice_.between(duration{0}, duration{dice_.one_of({1, 10, 100, 1500})});
}

duration world::draw_hold() {
    const int longest = static_cast<int>(3 * lease_time_.count());
    const int most =
        crowded_
            ? 8
            : dice_.one_of({0, 0, 0, 0, 5, 5, 5, 30, 30, 30, 100, 100, 300, 300, 1500, longest});
    return dice_.between(duration{most / 2}, duration{most});
}

asio::awaitable<void> world::sleep(duration length) {
    const std::unique_ptr<alarm> nap = clock_.make_alarm();
    co_await nap->wait_until(clock_.now() + length);
}

asio::awaitable<std::optional<lease>> world::take(seat& home, basic_mutex& lock) {
    constexpr auto as_result = asio::as_tuple(asio::use_awaitable);
    const int which = crowded_ ? 0 : dice_.between(0, 9);
    waiter here{&home, clock_.now(), acquisitions, which != 0};
    std::optional<lease> got;
    if (which < 4) {
        waiters_.push_back(&here);
        auto [why, held] = co_await lock.async_lock(as_result);
        std::erase(waiters_, &here);
        if (!why)
            got = std::move(held);
        else if (calm_)
            fail("lock() failed: " + why.message());
    } else if (which < 5) {
        auto [why, held] = co_await lock.async_try_lock(as_result);
        if (!why)
            got = std::move(held);
    } else if (which < 8) {
        waiters_.push_back(&here);
        const duration timeout = draw_timeout();
        auto [why, held] = co_await lock.async_try_lock_for(timeout, as_result);
        std::erase(waiters_, &here);
        if (!why)
            got = std::move(held);
    } else {
        waiters_.push_back(&here);
        const auto cancel = std::make_shared<asio::cancellation_signal>();
        const duration when = draw_cancellation();
        events_.after(when, [cancel, executor = home.executor] {
            asio::post(executor, [cancel] { cancel->emit(asio::cancellation_type::total); });
        });
        auto [why, held] =
            co_await lock.async_lock(asio::bind_cancellation_slot(cancel->slot(), as_result));
        cancel->slot().clear();
        std::erase(waiters_, &here);
        if (!why)
            got = std::move(held);
    }
    if (got && !*got)
        got.reset();
    if (got) {
        ++acquisitions;
        if (!home.direct && clock_.now() - here.since > duration{50})
            ++waited_outside;
    }
    co_return got;
}

asio::awaitable<void> world::live(seat& home) {
    mutex plain{*home.program, name};
    fenced_mutex fenced{*home.program, name};
    basic_mutex& lock = dice_.percent(fenced_) ? static_cast<basic_mutex&>(fenced) : plain;
    while (!ending_) {
        if (!crowded_)
            co_await sleep(draw_pause());
        std::optional<lease> got = co_await take(home, lock);
        if (!got)
            continue;
        {
            const belief here{&*got, got->owner(), &home};
            beliefs_.push_back(&here);
            check_beliefs();
            check_token(*got);
            const duration length = draw_hold();
            if (length > duration{})
                co_await sleep(length);
            std::erase(beliefs_, &here);
        }
        const auto [why] =
            co_await std::move(*got).async_unlock(asio::as_tuple(asio::use_awaitable));
        if (why && calm_)
            fail("unlock() failed: " + why.message());
    }
    --home.running;
}

void world::check() {
    check_beliefs();
    check_waiters();
}

/// A client that believes in its hold is the only one that does, and the server shows its hold.
void world::check_beliefs() {
    const belief* first = nullptr;
    for (const belief* const each : beliefs_) {
        if (!each->held->owns_lock())
            continue;
        last_busy_ = clock_.now();
        if (clock_.now() <= excused_until_)
            continue;
        if (first)
            fail("two clients believe that they hold the lock");
        first = each;
        const std::string shown = server_.holder(name.text);
        if (shown != each->owner && !is_down_)
            fail("client " + each->owner + " believes in its hold, and the server shows '" + shown +
                 "'");
    }
}

/// Each hold of a fenced lock has a greater token than all holds before it. A server that restarts
/// may have forgotten its tokens.
void world::check_token(const lease& held) {
    const std::uint64_t token = held.fencing_token();
    if (token == 0 || !held.owns_lock())
        return;
    if (token <= last_token_ && !may_forget_tokens_)
        fail("the token " + std::to_string(token) + " comes after the token " +
             std::to_string(last_token_));
    last_token_ = std::max(token, last_token_);
}

void world::check_waiters() {
    const time_point now = clock_.now();
    const std::string shown = server_.holder(name.text);
    for (const seat& each : seats_)
        if (each.at.is_stopped() && !shown.empty() && shown.starts_with(each.id))
            last_busy_ = now; // nobody can end the hold earlier than its TTL
    time_point since = time_point::max();
    for (const waiter* const each : waiters_) {
        if (each->of->at.is_stopped())
            continue;
        since = std::min(since, each->since);
        if (acquisitions - each->acquisitions_before > overtaken_most)
            fail("a waiting client was overtaken " + std::to_string(overtaken_most) + " times");
    }
    if (since == time_point::max() || now <= excused_until_)
        return;
    const time_point idle_since =
        std::max({since, last_busy_, last_fault_ + lease_time_ + duration{2000}});
    if (now > idle_since + idle_most)
        fail("nobody holds the lock, although a client waits; the server shows '" + shown + "'");
}

/// A release that grants the lock grants it for the claim time, and to a client with an inbox.
void world::check_grant(std::string_view script) {
    const std::string before = std::exchange(holder_, server_.holder(name.text));
    if (script != "release_to_queue" || holder_.empty() || holder_ == before)
        return;
    if (server_.left(name.text) > redis::handed_over_lease.count())
        fail("a release grants the lock for longer than the claim time");
    const std::string client = holder_.substr(0, holder_.find(':'));
    if (server_.subscribers(redis::inbox_prefix(name) + ':' + client) == 0)
        fail("a release grants the lock to a client that is not subscribed to its inbox");
}

void world::run_until(time_point end) {
    while (verdict_.empty()) {
        while (verdict_.empty() && clock_.step())
            ;
        check();
        if (!clock_.jump_to_next(end))
            break;
    }
    if (verdict_.empty())
        clock_.run_until(end); // no alarm is left, but keys still expire
}

bool world::all_done() const {
    return std::ranges::all_of(seats_,
                               [](const seat& each) { return each.is_dead || each.running == 0; });
}

std::string world::play() {
    const time_point start = clock_.now();
    run_until(start + duration{1000});
    const std::size_t scripts = server_.scripts_run, before = acquisitions;
    run_until(start + contended_for);
    if (crowded_ && all_direct_ && acquisitions > before)
        scripts_each = static_cast<double>(server_.scripts_run - scripts) /
                       static_cast<double>(acquisitions - before);
    // The faults end, and every caller must come to its end.
    ending_ = true;
    weather_ = weather{};
    note_fault();
    run_until(start + contended_for + duration{90'000});
    if (verdict_.empty() && !all_done())
        fail("a caller has not come to its end");
    for (const auto& [key, value] : server_.data())
        if (key != redis::token_key(name))
            fail("the key '" + key + "' is left");
    return verdict_;
}

} // namespace holdfast::handing
