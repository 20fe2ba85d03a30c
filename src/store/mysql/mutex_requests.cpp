// SPDX-License-Identifier: Apache-2.0
#include "store/mysql/mutex_requests.hpp"

#include "store/mysql/clauses.hpp"
#include "store/mysql/hold_texts.hpp"
#include "store/mysql/lock_texts.hpp"
#include "store/mysql/packed_answer.hpp"
#include "store/mysql/row_made.hpp"

#include <utility>

namespace holdfast::mysql {
namespace {

bool rings_bell(const site& at, const hold& of) {
    return verbs_of(of.kind)->has_bell && at.server.has_bells();
}

/// A server that does not know user locks is not asked for them again.
void note_bell_errors(const site& at, const answers& said) {
    constexpr unsigned not_supported = 1235;
    if (said.of.size() > 1 && said.of[1].error == not_supported)
        at.server.no_bells_here();
}

/// One write: the attempt, and what only a grant brings along.
asio::awaitable<taken> attempt_once(site& at, const ask& want, const take_terms& how) {
    const bool with_bell = rings_bell(at, want);
    const auto make = [&](const runtime::remote_clock& clock, const server_facts&) {
        std::vector<std::string> all{
            lock_attempt(at.named, want, {late_after(clock, how.deadline), at.info})};
        if (with_bell)
            all.push_back(bell_for_grant(at.bell(want.name)));
        if (want.kind == lock_kind::write)
            for (std::string& each : marks_after_attempt(at.named, want))
                all.push_back(std::move(each));
        return all;
    };
    composing text{make};
    // The bell and a mark are hints: what came of the attempt counts.
    call_wishes wishes{.on = how.on, .rest_is_hint = true, .may_meet_lock = 0};
    const answers said = co_await at.server.run(text, wishes);
    if (with_bell)
        note_bell_errors(at, said);
    taken got{attempt_in(said, 0)};
    got.no_row = found_no_row(said, 0);
    if (got.seen.said == verdict::granted) {
        got.seen.token = want.kind == lock_kind::fenced ? got.seen.token - want.tokens + 1 : 0;
        if (with_bell && said.of.size() > 1 && !said.of[1].rows.empty() &&
            said.of[1].rows.front().front() == "1")
            got.bell = said.by;
    }
    got.seen.queued = got.seen.said == verdict::busy && want.kind == lock_kind::write && want.waits;
    co_return got;
}

asio::awaitable<answers> release_once(site& at, const hold& held, std::shared_ptr<carrier> bell) {
    const auto make = [&](const runtime::remote_clock&, const server_facts&) {
        std::vector<std::string> all{lock_release(at.named, held)};
        if (bell)
            all.push_back(bell_dropped(at.bell(held.name)));
        if (held.kind == lock_kind::write)
            all.push_back(mark_removed(at.named, held));
        return all;
    };
    composing text{make};
    call_wishes wishes{.on = bell, .rest_is_hint = true, .reserved = true};
    co_return co_await at.server.run(text, wishes);
}

} // namespace

asio::awaitable<taken> take_lock(site& at, const ask& want, take_terms how) {
    const auto once = [&] { return attempt_once(at, want, how); };
    co_return co_await with_row_made(at, want.name, once);
}

// Without its connection the bell is gone, too: any other may release then.
asio::awaitable<released> release_lock(site& at, const hold& held, std::shared_ptr<carrier> bell) {
    if (bell && bell->is_cut())
        bell.reset();
    const answers said = co_await release_once(at, held, bell);
    released outcome{.was_ours = answer_at(said, 0).insert_id == 2};
    if (bell && said.of.size() > 1 && !said.of[1].rows.empty()) {
        const auto& row = said.of[1].rows.front();
        outcome.others_wait = row.size() > 1 && row[1] == "0";
    }
    co_return outcome;
}

std::string lock_may_be_had(const site& at, const ask& want) {
    const std::string name = hex(want.name.text), now{now_text};
    std::string free = "NOT EXISTS(SELECT 1 FROM " + at.named.locks + " WHERE name=" + name +
                       " AND expires>" + now + ")";
    if (want.kind == lock_kind::write)
        free += " AND NOT EXISTS(SELECT 1 FROM " + at.named.holds + " WHERE name=" + name +
                " AND kind=0 AND expires>" + now + " AND owner<>" + hex(owner_beside(want)) + ")";
    return free;
}

} // namespace holdfast::mysql
