// SPDX-License-Identifier: Apache-2.0
#include "sim/ongoing.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <tuple>
#include <utility>

namespace holdfast::sim {

ongoing::ongoing(world& w, operation o, cancellation plot)
    : world_{w}
    , what_{o}
    , id_{[&] {
        o.started_at = w.clock.now();
        if (acquires(o.what) && !counts(o.what) && o.lease == duration::zero())
            o.lease = w.how.lease_time / 2; // a lock may have a shorter lease of its own
        o.token_floor = w.checks().greatest_token(o.who.name);
        return w.books.begin(o);
    }()}
    , signal_{std::make_shared<asio::cancellation_signal>()} {
    w.log.note(o.who, spelled(o.what));
    if (o.reads)
        w.log.note(o.who, "  to read");
    if (o.what == deed::try_lock_for || (counts(o.what) && o.timeout < duration::max()))
        w.log.note(o.who, "  for up to {} ms", o.timeout);
    if (o.amount != 0)
        w.log.note(o.who, "  {} of them", o.amount);
    const auto pull = [&w, id = id_, signal = signal_, type = plot.type] {
        const auto& calls = w.books.under_way();
        if (!calls.contains(id))
            return;
        operation& call = w.books.at(id);
        w.log.note(call.who, "is cancelled");
        call.cancelled_at = w.clock.now();
        signal->emit(type);
    };
    if (plot.after_steps)
        w.after_steps(*plot.after_steps, pull);
    if (plot.after) {
        const auto later = [](world& of, duration d,
                              std::function<void()> act) -> asio::awaitable<void> {
            co_await of.sleep(d);
            act();
        };
        w.play(later(w, *plot.after, pull));
    }
}

ongoing::~ongoing() {
    if (!ended_)
        world_.checks().dropped(world_.books.end(id_));
}

outcome ongoing::ended(const error_code& ec, bool got) {
    outcome how = meaning_of(ec);
    if (how == outcome::done && !got)
        how = outcome::nothing;
    ended_ = true;
    const operation was = world_.books.end(id_);
    world_.log.note(was.who, spelled(how));
    world_.checks().completed(was, how);
    return how;
}

outcome ongoing::ended_with(const error_code& ec, std::int64_t amount) {
    world_.books.at(id_).amount = amount;
    return ended(ec);
}

grip::grip(world& w, subject who, lease held, duration longest, taken_by how, std::string beside,
           unsigned replicas)
    : world_{w}
    , claim_{std::make_unique<claim>(who, std::move(held), longest, std::move(beside), replicas)} {
    claim& c = *claim_;
    c.on_lost.emplace(c.held.lost(), [&c, &w] {
        c.told_lost = true;
        // also checks that a callback may call remaining()
        if (c.held.remaining() > duration{})
            w.violated("loss is told", c.who.name, c.owner + ": it is lost, and has time left");
        w.log.note(c.who, "hears that it has lost the lock");
    });
    if (how == taken_by::acquisition)
        w.checks().granted(c);
    else
        w.checks().shared(c);
    w.books.add(c);
}

grip::~grip() {
    if (claim_)
        strike_out();
}

lease grip::take_out() {
    lease out = std::move(claim_->held);
    strike_out();
    return out;
}

void grip::strike_out() {
    claim_->on_lost.reset();
    world_.books.remove(*claim_);
    if (!world_.books.claimed(claim_->owner))
        world_.checks().released(*claim_);
    claim_.reset();
}

namespace {

struct granted {
    error_code code{};
    std::optional<lease> got{};
};

granted unpack(std::tuple<error_code, lease> answer) {
    auto& [code, got] = answer;
    if (code)
        return {code, {}};
    return {code, std::move(got)};
}

granted unpack(std::tuple<error_code, std::optional<lease>> answer) {
    auto& [code, got] = answer;
    return {code, std::move(got)};
}

template <typename Answer>
asio::awaitable<granted> unpacked(asio::awaitable<Answer> call) {
    Answer answer = co_await std::move(call);
    co_return unpack(std::move(answer));
}

asio::awaitable<granted> ask(const ongoing& call, basic_mutex& m, const wanted& w) {
    const lease_time fixed{w.fixed.value_or(duration{1})};
    switch (w.how) {
    case deed::lock:
        return unpacked(w.fixed ? m.async_lock(fixed, call.token()) : m.async_lock(call.token()));
    case deed::try_lock:
        return unpacked(w.fixed ? m.async_try_lock(fixed, call.token())
                                : m.async_try_lock(call.token()));
    default:
        return unpacked(w.fixed ? m.async_try_lock_for(w.timeout, fixed, call.token())
                                : m.async_try_lock_for(w.timeout, call.token()));
    }
}

} // namespace

asio::awaitable<std::unique_ptr<grip>> acquire(world& w, subject who, int generation,
                                               basic_mutex& m, wanted how, cancellation plot) {
    operation o{.what = how.how, .who = who, .timeout = how.timeout};
    const duration longest = how.fixed.value_or(how.usual.value_or(w.how.lease_time));
    o.lease = longest;
    o.generation = generation;
    o.reads = how.reads;
    ongoing call{w, o, plot};
    granted answer = co_await ask(call, m, how);
    const bool got = !answer.code && answer.got;
    if (call.ended(answer.code, got) != outcome::done)
        co_return nullptr;
    co_return std::make_unique<grip>(w, who, std::move(*answer.got), longest, taken_by::acquisition,
                                     std::string{}, how.replicas);
}

asio::awaitable<outcome> release(world& w, grip& held, int generation, cancellation plot) {
    const subject who = held.what().who;
    // A client that is closing still accepts releases.
    const seat& home = w.seats[static_cast<std::size_t>(who.client)];
    const bool was_lost = !held.what().held.owns_lock() && generation == home.generation;
    operation o{.what = deed::unlock, .who = who};
    o.generation = generation;
    ongoing call{w, o, plot};
    lease out = held.take_out();
    const std::tuple<error_code> answer = co_await out.async_unlock(call.token());
    const outcome how = call.ended(std::get<0>(answer));
    if (was_lost && how == outcome::done)
        w.violated("loss is told", who.name, "the release of a lost hold reports success");
    co_return how;
}

namespace {

/// Completion handler that gets its lease and then throws.
class blunderer {
public:
    blunderer(world& w, subject who, duration longest, unsigned replicas,
              std::unique_ptr<ongoing> call, std::function<void()> over)
        : world_{w}
        , who_{who}
        , longest_{longest}
        , replicas_{replicas}
        , call_{std::move(call)}
        , over_{std::move(over)} {}

    void operator()(const error_code& ec, lease got) { throw_at(granted{ec, std::move(got)}); }
    void operator()(const error_code& ec, std::optional<lease> got) {
        throw_at(granted{ec, std::move(got)});
    }
    void operator()(const error_code& ec) { throw_at(granted{ec, {}}, true); }

private:
    void throw_at(granted answer, bool none_expected = false) {
        const bool got = !answer.code && answer.got;
        call_->ended(answer.code, got || none_expected);
        if (got)
            const grip for_a_moment{
                world_, who_,     std::move(*answer.got), longest_, taken_by::acquisition,
                {},     replicas_};
        over_();
        throw world_.about_to_throw(who_);
    }

    world& world_;
    subject who_;
    duration longest_;
    unsigned replicas_;
    std::unique_ptr<ongoing> call_;
    std::function<void()> over_;
};

} // namespace

void blunder_into(world& w, subject who, int generation, basic_mutex& m, wanted how,
                  cancellation plot, std::function<void()> over) {
    operation o{.what = how.how, .who = who, .timeout = how.timeout};
    o.generation = generation;
    o.reads = how.reads;
    auto call = std::make_unique<ongoing>(w, o, plot);
    const ongoing& begun = *call;
    const duration longest = how.usual.value_or(w.how.lease_time);
    auto handler =
        begun.bind(blunderer{w, who, longest, how.replicas, std::move(call), std::move(over)});
    switch (how.how) {
    case deed::lock:
        return m.async_lock(std::move(handler));
    case deed::try_lock:
        return m.async_try_lock(std::move(handler));
    default:
        return m.async_try_lock_for(how.timeout, std::move(handler));
    }
}

void blunder_out_of(world& w, grip& held, int generation, std::function<void()> over) {
    const subject who = held.what().who;
    operation o{.what = deed::unlock, .who = who};
    o.generation = generation;
    auto call = std::make_unique<ongoing>(w, o);
    lease out = held.take_out();
    out.async_unlock(blunderer{w, who, {}, 0, std::move(call), std::move(over)});
}

} // namespace holdfast::sim
