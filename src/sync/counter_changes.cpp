// SPDX-License-Identifier: Apache-2.0
#include "sync/counter_changes.hpp"

#include "sync/engine.hpp"
#include "sync/lock_descriptor.hpp"
#include "sync/retry_policy.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast::sync {
namespace {

/// Retry policy of one change: decides how long to retry, and which error to report at the end.
class attempts_of_change {
public:
    explicit attempts_of_change(engine& home)
        : home_{home}
        , outage_ends_{later(home.now(), home.unavailable_timeout())}
        , again_at_{home.now()}
        , known_until_{later(home.now(), home.counters()->memory() / 2)}
        , pause_{home} {}

    /// Returns when to retry after the failure of a request that was sent at `sent_at`. Call it in
    /// a catch block. Throws if a retry cannot help.
    time_point next_try(const boost::system::system_error& e, time_point sent_at) {
        const duration longest = home_.bounds().time_limit;
        const duration before = pause_of_process(again_at_, sent_at, longest);
        outage_ends_ =
            later(outage_ends_, before + pause_of_process(sent_at, home_.now(), longest));
        const time_point limit = std::min(outage_ends_, known_until_);
        const bool is_over = home_.now() >= limit || home_.stopped();
        const bool is_uncertain = e.code() == errc::outcome_unknown;
        if (is_retryable(e.code()) && !is_over) {
            uncertain_ = uncertain_ || is_uncertain;
            again_at_ = std::min(limit, later(home_.now(), pause_.next()));
            return again_at_;
        }
        if (uncertain_ && !is_uncertain)
            throw worded_error{{make_error_code(errc::outcome_unknown),
                                std::string{"an earlier request may have been carried out; the "
                                            "last one failed: "} +
                                    e.what()}};
        throw;
    }

    /// Throws if the store may have executed an earlier request of this change and forgotten it
    /// since then. A repetition would then make the change twice. Call this function before each
    /// repetition, because the process may have been paused for a long time.
    void must_be_remembered() const {
        if (uncertain_ && home_.now() > known_until_)
            throw worded_error{{make_error_code(errc::outcome_unknown),
                                "an earlier request may have been carried out, and the server may "
                                "have forgotten it by now"}};
    }

private:
    engine& home_;
    time_point outage_ends_;
    time_point again_at_;
    const time_point known_until_; // the store knows the request number at least until then
    pauses pause_;
    bool uncertain_ = false;
};

worded_error too_many(const counter_change& what, const counter_answer& said) {
    const std::int64_t most = what.most > 0 ? what.most : counted_max;
    const bool fewer = what.verb == counter_verb::take_back;
    return worded_error{
        {make_error_code(errc::refused),
         "there are " + std::to_string(said.value) + " permits, and " +
             std::to_string(what.amount) + (fewer ? " fewer" : " more") +
             " is beyond what there may be: " + std::to_string(fewer ? -counted_max : most)}};
}

bool releases(const counter_change& what) {
    return what.kind == counter_kind::semaphore && what.verb == counter_verb::add;
}

/// Guard that exists during a change. Its destructor notifies the store that the change is over.
class change_in_progress {
public:
    change_in_progress(engine& home, const counter_change& what)
        : home_{home}
        , what_{what} {}
    change_in_progress(const change_in_progress&) = delete;
    ~change_in_progress() {
        if (home_.stopped())
            return; // when the user's context ends, the store is destroyed before this object
        if (counter_store* const store = home_.counters())
            store->end_change(what_.name, what_.request);
    }

private:
    engine& home_;
    const counter_change& what_;
};

/// Returns whether the hold has a permit with this id. The last 12 hexadecimal digits of an id are
/// the number of its owner.
bool has_permit(const held_lock& held, std::string_view id) {
    constexpr std::size_t digits_of_number = 12;
    if (id.size() < digits_of_number)
        return false;
    owner_id owner = held.what.owner;
    const char* const end = id.data() + id.size();
    if (std::from_chars(end - digits_of_number, end, owner.number, 16).ptr != end)
        return false;
    return owner.number - held.what.owner.number < held.what.permits && permit_id(owner) == id;
}

/// Asks the store whether this client still has its permits, because the change may have ended a
/// hold of permits. After a change of a single permit, asks only about the hold with this permit,
/// because a client may change thousands of permits at once.
void revalidate_holds(engine& home, const counter_change& what) {
    if (what.kind != counter_kind::permits)
        return;
    for (const std::shared_ptr<held_lock>& held : home.queues().held_under(what.name.text))
        if (held->what.kind == lock_kind::permit &&
            (what.permit.empty() || has_permit(*held, what.permit)))
            held->revalidate();
}

asio::awaitable<void> change_and_tell(std::shared_ptr<engine> home, counter_change what,
                                      change_handler done) {
    failure why;
    counter_answer said;
    try {
        said = co_await change(home, std::move(what));
    } catch (const boost::system::system_error& e) {
        why = {e.code(), e.what()};
    }
    std::move(done)(std::move(why), said);
}

} // namespace

counter_change change_of(const counter_descriptor& counter, counter_verb verb,
                         std::int64_t amount) {
    counter_change all{counter.name, {}, counter.what, verb, amount};
    all.replicas = counter.replicas;
    if (verb == counter_verb::add || verb == counter_verb::add_if_there)
        all.most = counter.most;
    return all;
}

asio::awaitable<counter_answer> change(std::shared_ptr<engine> home, counter_change what) {
    const engine::task busy{*home}; // close() waits for the change for a limited time
    attempts_of_change attempts{*home};
    what.request = home->new_owner_id();
    counter_answer passed;
    passed.done = true;
    if (releases(what) && hand_over(*home, what))
        co_return passed;
    const change_in_progress asks{*home, what};
    while (true) {
        const time_point sent_at = home->now();
        time_point again_at{};
        try {
            counter_change once_more = what;
            const counter_answer said = co_await home->counters()->change(std::move(once_more));
            home->queues().note_others({what.name.text, family_of(what.kind)}, said.others_listen);
            if (said.beyond)
                throw too_many(what, said);
            revalidate_holds(*home, what);
            co_return said;
        } catch (const boost::system::system_error& e) {
            again_at = attempts.next_try(e, sent_at);
        }
        co_await home->nap(again_at);
        attempts.must_be_remembered();
    }
}

void begin_change(const std::shared_ptr<engine>& home, counter_change what, change_handler done,
                  const asio::any_io_executor& where) {
    home->spawn(change_and_tell(home, std::move(what), std::move(done)), where);
}

void give_back(const counter_descriptor& counter, std::int64_t amount) {
    if (amount == 0 || counter.what == counter_kind::latch)
        return;
    counter_change back{counter.name, {}, counter.what, counter_verb::add, amount};
    change_handler unwaited{[](const failure&, const counter_answer&) {}};
    begin_change(counter.home, std::move(back), std::move(unwaited), counter.home->executor());
}

namespace {

bool within_budget_of_passes(engine& home, const gate_key& key, const gate& here,
                             std::size_t more) {
    const hand_off& how = home.how().hand_off;
    const duration most = home.queues().others_listen(key) ? how.within / 2 : how.within;
    return here.passes() + more <= how.times_max && home.now() < later(here.last_store_use(), most);
}

bool some_want_more_replicas(const std::vector<std::shared_ptr<acquisition>>& some,
                             std::uint8_t than) {
    return std::ranges::any_of(
        some, [than](const auto& each) { return each->wanted.of->replicas > than; });
}

} // namespace

bool hand_over(engine& home, const counter_change& released) {
    const gate_key key{released.name.text, family::semaphore};
    gate* const here = home.closing() ? nullptr : home.queues().find(key);
    if (!here)
        return false;
    const auto some = here->served_by(released.amount);
    if (some.empty() || some_want_more_replicas(some, released.replicas) ||
        !within_budget_of_passes(home, key, *here, some.size())) {
        here->note_store_use(home.now());
        return false;
    }
    here->note_passes(some.size());
    for (const std::shared_ptr<acquisition>& each : some)
        // `succeed_counted()` returns false if the call has already ended. For example, the handler
        // of the previous call may have cancelled this call.
        if (!each->succeed_counted())
            give_back(static_cast<const counter_descriptor&>(*each->wanted.of),
                      each->wanted.amount);
    return true;
}

} // namespace holdfast::sync
