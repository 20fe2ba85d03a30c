// SPDX-License-Identifier: Apache-2.0
#include "store/mysql/counters.hpp"

#include "store/mysql/lock_statements.hpp"
#include "store/mysql/mysql_store.hpp"
#include "store/remote/listing.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::mysql {
namespace {

/// Two limits of a list: maximum number of names in one answer, and maximum number of answers.
constexpr std::size_t names_in_page = 1000;
constexpr int pages_max = 100;

} // namespace

std::optional<std::string> mysql_counters::objection_to(const lock_name& name, counter_kind) const {
    return objection_to_name(name);
}

std::unique_ptr<place> mysql_counters::line_up(counter_ask want, alarm& wake) {
    return std::make_unique<latch_place>(at_, poller_, want, wake);
}

asio::awaitable<counter_answer> mysql_counters::change(counter_change what) {
    counter_answer outcome;
    const ask nobody{what.name, what.request, lock_kind::plain};
    remote::attempts::sender send = [&](time_point deadline) {
        return change_once(at_, what, deadline, memory(), outcome);
    };
    co_await remote::look_once(at_.context, nobody, at_.server.command_timeout(), std::move(send));
    co_return outcome;
}

asio::awaitable<counter_state> mysql_counters::inspect(lock_name name, counter_kind kind) {
    const auto make = [&](const runtime::remote_clock&, const server_facts&) {
        return std::vector<std::string>{counter_inspected(at_.named, name, kind),
                                        kinds_there(at_.named, name)};
    };
    composing text{make};
    const answers said = co_await at_.server.run(text);
    if (const char* const other = other_kind_in(answer_at(said, 1), reason_for(kind)))
        throw_wrong_type(other, words_for(kind));
    counter_state found;
    if (const auto& rows = answer_at(said, 0).rows; !rows.empty()) {
        found.exists = true;
        found.taken = number_at(rows.front(), 1);
        found.value = number_at(rows.front(), 0) - found.taken;
    }
    co_return found;
}

asio::awaitable<counter_list> mysql_counters::list(counter_kind kind, std::string pattern,
                                                   std::size_t limit) {
    counter_list all;
    std::string behind;
    for (int page = 0; page < pages_max; ++page) {
        const auto make = [&](const runtime::remote_clock&, const server_facts&) {
            return std::vector<std::string>{
                counters_listed(at_.named, kind, behind, names_in_page)};
        };
        composing text{make};
        const answers said = co_await at_.server.run(text);
        const auto& rows = answer_at(said, 0).rows;
        for (const auto& row : rows) {
            behind = text_at(row, 0);
            if (!remote::matches(pattern, behind))
                continue;
            if (all.counters.size() == limit) {
                all.complete = false;
                co_return all;
            }
            counter_list::entry one{behind, {}};
            one.state = co_await inspect({behind}, kind);
            if (remote::is_listed(kind, one.state)) // false: the counter has changed since then
                all.counters.push_back(std::move(one));
        }
        if (rows.size() < names_in_page)
            co_return all;
    }
    all.complete = false;
    co_return all;
}

namespace {

ask asked_by(const counter_ask& want) {
    ask same{want.name, want.request, lock_kind::plain};
    same.give_up_at = want.give_up_at;
    return same;
}

} // namespace

latch_place::latch_place(request_context& at, poller& polls, const counter_ask& want, alarm& wake)
    : at_{at}
    , poller_{polls}
    , want_{asked_by(want)}
    , wake_{wake}
    , attempts_{at.context, want_, at.server.command_timeout()} {}

asio::awaitable<answer> latch_place::look() {
    if (attempts_.found_busy() && !poll_)
        poll_ = poller_.enrol(latch_is_open(at_.named, want_.name), wake_);
    remote::attempts::sender send = [this](time_point) { return request(); };
    co_return co_await attempts_.look(std::move(send), at_.context.poll_bound, duration::zero());
}

asio::awaitable<attempt> latch_place::request() {
    const auto make = [this](const runtime::remote_clock&, const server_facts&) {
        return std::vector<std::string>{latch_look(at_.named, want_.name),
                                        kinds_there(at_.named, want_.name)};
    };
    composing text{make};
    const answers said = co_await at_.server.run(text);
    if (const char* const other = other_kind_in(answer_at(said, 1), latch_reason))
        throw_wrong_type(other, words_for(counter_kind::latch));
    attempt got;
    got.said = answer_at(said, 0).rows.empty() ? verdict::granted : verdict::busy;
    got.sent_at = said.sent_at;
    got.received_at = said.received_at;
    co_return got;
}

asio::awaitable<void> latch_place::leave() {
    poll_.reset();
    co_return;
}

namespace {

/// Values that the first half of a change has read.
struct seen_counter {
    bool has_row = false;
    std::optional<counter_answer> before{}; ///< outcome of an earlier copy of this request
    counter_now now{};
    /// If another kind of lock or counter uses the name: this kind, as text for messages. Otherwise
    /// null.
    const char* other_kind = nullptr;
};

seen_counter seen_in(const answers& said, counter_kind kind) {
    seen_counter seen;
    seen.other_kind = other_kind_in(answer_at(said, kinds_at), reason_for(kind));
    seen.has_row = answer_at(said, touched_at).matched > 0;
    if (const auto& rows = answer_at(said, outcome_at).rows; !rows.empty())
        seen.before = counter_answer{.done = number_at(rows.front(), 0) == 1,
                                     .beyond = number_at(rows.front(), 1) == 1,
                                     .value = number_at(rows.front(), 2)};
    if (const auto& rows = answer_at(said, value_at).rows; !rows.empty())
        seen.now.value = number_at(rows.front(), 0);
    if (const auto& rows = answer_at(said, held_at).rows; !rows.empty()) {
        seen.now.held = number_at(rows.front(), 0);
        seen.now.that_permit_is_held = number_at(rows.front(), 1) > 0;
    }
    return seen;
}

class changing {
public:
    changing(request_context& at, const counter_change& what, time_point deadline, duration memory)
        : at_{at}
        , what_{what}
        , deadline_{deadline}
        , memory_{memory}
        , mark_{at.next_mark(what.request)}
        , both_{at} {}

    asio::awaitable<attempt> run(counter_answer& outcome) {
        const std::vector<std::string> reading = change_begun(at_.named, what_, mark_);
        const answers begun = co_await both_.begin(reading);
        seen_counter seen = seen_in(begun, what_.kind);
        if (what_.kind == counter_kind::latch)
            seen.now.held = 0;
        attempt got = clock_in(begun, time_at);
        effect_ = effect_of(what_, seen.now);
        if (seen.before)
            effect_ = {.said = *seen.before};
        const bool writes = seen.has_row && !seen.before && !seen.other_kind;
        outcome = effect_.said;
        const bool in_time = co_await end(writes);
        if (seen.other_kind)
            throw_wrong_type(seen.other_kind, words_for(what_.kind));
        if (!in_time)
            got.said = verdict::late;
        co_return got;
    }

private:
    /// Ends the transaction of a change. If `writes` is true, sends the writes of the change first.
    /// Returns false if the server did not execute these writes before the deadline.
    asio::awaitable<bool> end(bool writes) {
        const read_then_write::maker writing = [&](const runtime::remote_clock& clock) {
            return writes ? change_ended(at_.named, what_, effect_, mark_,
                                         late_after(clock, deadline_), memory_)
                          : std::vector<std::string>{};
        };
        const answers done = co_await both_.end(writing);
        co_return !writes || answer_at(done, 0).matched > 0;
    }

    request_context& at_;
    const counter_change& what_;
    const time_point deadline_;
    const duration memory_;
    const std::string mark_;
    counter_effect effect_;
    read_then_write both_;
};

} // namespace

asio::awaitable<attempt> change_once(request_context& at, const counter_change& what,
                                     time_point deadline, duration memory, counter_answer& said) {
    changing one{at, what, deadline, memory};
    co_return co_await one.run(said);
}

namespace {

/// Returns the effect of setting the total number of permits to `all`. The answer to the caller has
/// the number of permits that are free afterwards.
counter_effect all_are(std::int64_t all, const counter_now& now) {
    const std::int64_t is_free = all - now.held;
    counter_effect made;
    made.said.beyond = is_free > counted_max || is_free < -counted_max || all > counted_max;
    made.said.done = !made.said.beyond;
    made.said.value = made.said.beyond ? now.value.value_or(0) - now.held : is_free;
    made.changes = made.said.done;
    made.value = all;
    return made;
}

counter_effect unchanged_as(const counter_now& now) {
    counter_effect made;
    made.said.value = now.value.value_or(0) - now.held;
    return made;
}

counter_effect counted_down(std::int64_t by, const counter_now& now) {
    if (!now.value)
        return {};
    counter_effect made{.changes = true};
    made.said.value = std::max<std::int64_t>(*now.value - by, 0);
    made.said.done = *now.value > 0 && made.said.value == 0;
    if (made.said.value > 0)
        made.value = made.said.value;
    return made;
}

counter_effect made_new(std::int64_t amount, const counter_now& now) {
    if (now.value)
        return unchanged_as(now);
    counter_effect made = all_are(amount, now);
    return made;
}

counter_effect about_a_permit(const counter_change& what, const counter_now& now) {
    counter_effect made = unchanged_as(now);
    if (!now.value || !now.that_permit_is_held)
        return made;
    made.said.done = true;
    made.sets_lease = what.verb == counter_verb::set_lease;
    made.ends_permit = !made.sets_lease;
    if (made.ends_permit)
        ++made.said.value;
    return made;
}

} // namespace

counter_effect effect_of(const counter_change& what, const counter_now& now) {
    switch (what.verb) {
    case counter_verb::add:
        return all_are(now.value.value_or(0) + what.amount, now);
    case counter_verb::take_back:
        return all_are(now.value.value_or(0) - what.amount, now);
    case counter_verb::set:
        return all_are(what.amount, now);
    case counter_verb::set_new:
        return made_new(what.amount, now);
    case counter_verb::count_down:
        return counted_down(what.amount, now);
    case counter_verb::erase:
        return {.said = {.done = now.value.has_value()}, .changes = now.value.has_value()};
    case counter_verb::give_back:
    case counter_verb::set_lease:
        return about_a_permit(what, now);
    case counter_verb::add_if_there:
    case counter_verb::drain:
        break; // only for semaphores without leases, which do not exist here
    }
    return {};
}

namespace {

const std::string at_begin{now_text};

bool may_make_it(counter_verb verb) {
    return verb == counter_verb::add || verb == counter_verb::take_back ||
           verb == counter_verb::set || verb == counter_verb::set_new;
}

/// Returns a statement that only checks a privilege on the table of holds, and changes no row. If
/// the user lacks a privilege that the change needs later, the statement fails.
std::string right_on_holds(const tables& named, const counter_change& what) {
    if (what.verb == counter_verb::set_lease)
        return "UPDATE " + named.holds + " SET expires=expires WHERE FALSE";
    const bool deletes = what.kind == counter_kind::permits &&
                         (what.verb == counter_verb::give_back || what.verb == counter_verb::erase);
    return deletes ? "DELETE FROM " + named.holds + " WHERE FALSE" : "DO 0";
}

/// Returns a statement that only checks a privilege, and changes no row. If the change may delete
/// the counter, but the user may not delete rows, the statement fails.
std::string right_to_delete(const tables& named, const counter_change& what) {
    const bool deletes = what.verb == counter_verb::erase || what.verb == counter_verb::count_down;
    return deletes ? "DELETE FROM " + named.counters + " WHERE FALSE" : "DO 0";
}

std::string request_row(const counter_change& what) {
    return counter_row(what.name, what.kind) + " AND request=" + hex(to_string(what.request));
}

std::string of_this_permit(const counter_change& what) {
    return "name=" + hex(what.name.text) + " AND kind=2 AND owner=" + hex(what.permit);
}

/// Returns the SQL expression for the expiry of a counter, or NULL if the counter never expires.
std::string end_of_counter(duration kept) {
    return kept > duration::zero() ? end_of(kept) : "NULL";
}

} // namespace

std::string living_counter() {
    return "value IS NOT NULL AND (expires IS NULL OR expires>" + at_begin + ")";
}

std::string kind_number(counter_kind kind) {
    return kind == counter_kind::permits ? "1" : "2";
}

std::string counter_row(const lock_name& name, counter_kind kind) {
    return "name=" + hex(name.text) + " AND kind=" + kind_number(kind);
}

std::vector<std::string> change_begun(const tables& named, const counter_change& what,
                                      const std::string& mark) {
    const std::string row = counter_row(what.name, what.kind);
    const std::string made = "INSERT INTO " + named.counters + " (name,kind) VALUES(" +
                             hex(what.name.text) + "," + kind_number(what.kind) +
                             ") ON DUPLICATE KEY UPDATE value=value";
    const bool makes = may_make_it(what.verb);
    return {makes ? counter_announced(named, what.name) : right_on_holds(named, what),
            makes ? made : right_to_delete(named, what),
            "UPDATE " + named.counters + " SET touched=" + hex(mark) + " WHERE " + row,
            "SELECT value FROM " + named.counters + " WHERE " + row + " AND " + living_counter(),
            "SELECT done,beyond,value FROM " + named.requests + " WHERE " + request_row(what) +
                " AND expires>" + at_begin,
            "SELECT COUNT(*),COALESCE(SUM(owner=" + hex(what.permit) + "),0) FROM " + named.holds +
                " WHERE name=" + hex(what.name.text) + " AND kind=2 AND expires>" + at_begin,
            "SELECT " + std::string{runs_text},
            kinds_there(named, what.name),
            "DELETE FROM " + named.requests + " WHERE " + row + " AND expires<=" + at_begin +
                " LIMIT 100"};
}

std::vector<std::string> change_ended(const tables& named, const counter_change& what,
                                      const counter_effect& effect, const std::string& mark,
                                      const std::string& late, duration memory) {
    const std::string row = counter_row(what.name, what.kind);
    const std::string in_time = " AND touched=" + hex(mark);
    const std::string remembered =
        " AND EXISTS(SELECT 1 FROM " + named.requests + " WHERE " + request_row(what) + ")";
    std::vector<std::string> all{
        "INSERT INTO " + named.requests +
        " (name,kind,request,done,beyond,value,expires) SELECT name,kind," +
        hex(to_string(what.request)) + "," + (effect.said.done ? "1" : "0") + "," +
        (effect.said.beyond ? "1" : "0") + "," + std::to_string(effect.said.value) + "," +
        end_of(memory) + " FROM " + named.counters + " WHERE " + row + in_time + " AND NOT " +
        is_late(late)};
    if (effect.ends_permit)
        all.push_back("DELETE FROM " + named.holds + " WHERE " + of_this_permit(what) + remembered);
    if (effect.sets_lease)
        all.push_back("UPDATE " + named.holds + " SET expires=" + end_of(what.kept) + " WHERE " +
                      of_this_permit(what) + remembered);
    if (effect.changes && effect.value)
        all.push_back("UPDATE " + named.counters + " SET value=" + std::to_string(*effect.value) +
                      (what.verb == counter_verb::set_new ? ",expires=" + end_of_counter(what.kept)
                                                          : std::string{}) +
                      " WHERE " + row + in_time + remembered);
    if (effect.changes && !effect.value) {
        if (what.kind == counter_kind::permits)
            all.push_back("DELETE FROM " + named.holds + " WHERE name=" + hex(what.name.text) +
                          " AND kind=2" + remembered);
        all.push_back("DELETE FROM " + named.counters + " WHERE " + row + in_time + remembered);
    }
    return all;
}

std::string latch_look(const tables& named, const lock_name& name) {
    return "SELECT 1 FROM " + named.counters + " WHERE " + counter_row(name, counter_kind::latch) +
           " AND value>0 AND " + living_counter();
}

std::string latch_is_open(const tables& named, const lock_name& name) {
    return "NOT EXISTS(" + latch_look(named, name) + ")";
}

std::string counter_inspected(const tables& named, const lock_name& name, counter_kind kind) {
    const std::string held = kind == counter_kind::permits
                                 ? "(SELECT COUNT(*) FROM " + named.holds +
                                       " AS h WHERE h.name=" + hex(name.text) +
                                       " AND h.kind=2 AND h.expires>" + at_begin + ")"
                                 : "0";
    return "SELECT value," + held + " FROM " + named.counters + " WHERE " +
           counter_row(name, kind) + " AND " + living_counter();
}

std::string counters_listed(const tables& named, counter_kind kind, const std::string& behind,
                            std::size_t at_most) {
    const std::string held = kind == counter_kind::permits
                                 ? " AND EXISTS(SELECT 1 FROM " + named.holds +
                                       " AS h WHERE h.name=c.name AND h.kind=2 AND h.expires>" +
                                       at_begin + ")"
                                 : "";
    return "SELECT name FROM " + named.counters + " AS c WHERE kind=" + kind_number(kind) +
           " AND name>" + hex(behind) + " AND " + living_counter() + held +
           " ORDER BY name LIMIT " + std::to_string(at_most);
}

} // namespace holdfast::mysql
