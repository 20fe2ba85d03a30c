// SPDX-License-Identifier: Apache-2.0
#include "store/mysql/mutex_requests.hpp"

#include "store/mysql/bells.hpp"
#include "store/mysql/clauses.hpp"
#include "store/mysql/hold_texts.hpp"
#include "store/mysql/lock_texts.hpp"
#include "store/mysql/locked_tables.hpp"
#include "store/mysql/packed_answer.hpp"
#include "store/mysql/row_made.hpp"

#include <boost/system/system_error.hpp>

#include <cstdint>
#include <optional>
#include <utility>

namespace holdfast::mysql {
namespace {

bool rings_bell(const site& at, const hold& of) {
    return verbs_of(of.kind)->has_bell && at.server.has_bells();
}

using attempt_text = std::string (*)(const tables&, const ask&, const attempt_terms&);

/// Sends one attempt, with or without the user lock. If the requester is a writer, the statements
/// about its mark follow.
asio::awaitable<answers> ask_for_lock(site& at, const ask& want, const take_terms& how,
                                      attempt_text text_of, const std::string& bell) {
    const auto make = [&](const runtime::remote_clock& clock, const server_facts&) {
        const attempt_terms terms{
            .late = late_after(clock, how.deadline), .info = at.info, .bell = bell};
        std::vector<std::string> all{text_of(at.named, want, terms)};
        if (want.kind == lock_kind::write)
            for (std::string& each : marks_after_attempt(at.named, want))
                all.push_back(std::move(each));
        return all;
    };
    composing text{make};
    // A failure to write the mark is ignored. Only the result of the attempt counts.
    call_wishes wishes{.on = how.on, .rest_is_hint = true, .may_meet_lock = 0};
    const std::string undo = bell_dropped(bell);
    if (!bell.empty())
        wishes.undo = &undo;
    co_return co_await at.server.run(text, wishes);
}

/// Returns whether the user lock may have caused the error. Possible causes are a deadlock of user
/// locks, and a server without user locks.
bool may_be_the_bell(const error_code& failed) {
    return failed == store_errc::try_again || failed == store_errc::other;
}

/// Sends an attempt with the user lock. If the server may have refused the user lock, sends the
/// attempt again without it: the user lock is only a notification, so the lock does not need it. If
/// the server always refuses user locks, this client does not ask for them again.
asio::awaitable<answers> ask_with_bell(site& at, const ask& want, const take_terms& how,
                                       attempt_text text_of) {
    const std::string bell = at.bell(want.name), none;
    std::optional<error_code> refused;
    try {
        co_return co_await ask_for_lock(at, want, how, text_of, bell);
    } catch (const boost::system::system_error& why) {
        if (!may_be_the_bell(why.code()))
            throw;
        refused = why.code();
    }
    answers said = co_await ask_for_lock(at, want, how, text_of, none);
    if (*refused == store_errc::other)
        at.server.no_bells_here();
    co_return said;
}

asio::awaitable<answers> ask_in_words(site& at, const ask& want, const take_terms& how,
                                      attempt_text text_of) {
    const std::string none;
    if (rings_bell(at, want))
        co_return co_await ask_with_bell(at, want, how, text_of);
    co_return co_await ask_for_lock(at, want, how, text_of, none);
}

asio::awaitable<taken> attempt_once(site& at, const ask& want, const take_terms& how) {
    answers said;
    if (how.may_be_free && want.kind != lock_kind::write)
        said = co_await ask_in_words(at, want, how, lock_attempt_if_free);
    // only the full attempt tells why the short attempt failed
    if (said.of.empty() || found_no_row(said, 0))
        said = co_await ask_in_words(at, want, how, lock_attempt);
    co_await refuse_locked_tables(at, said, 0);
    taken got{attempt_in(said, 0, want.kind)};
    got.no_row = found_no_row(said, 0);
    if (got.seen.said == verdict::granted) {
        got.seen.token = want.kind == lock_kind::fenced ? got.seen.token - want.tokens + 1 : 0;
        if (taken_apart(said.of.front().insert_id).has_bell)
            got.bell = said.by;
    }
    got.seen.queued = got.seen.said == verdict::busy && want.kind == lock_kind::write && want.waits;
    co_return got;
}

asio::awaitable<answers> release_once(site& at, const hold& held, std::shared_ptr<carrier> bell) {
    const std::string name = bell ? at.bell(held.name) : "";
    const auto make = [&](const runtime::remote_clock&, const server_facts&) {
        std::vector<std::string> all{lock_release(at.named, held, name)};
        if (held.kind == lock_kind::write)
            all.push_back(mark_removed(at.named, held));
        return all;
    };
    composing text{make};
    call_wishes wishes{.on = bell, .rest_is_hint = true, .reserved = true};
    const std::string undo = bell_dropped(name);
    if (bell)
        wishes.undo = &undo;
    co_return co_await at.server.run(text, wishes);
}

} // namespace

asio::awaitable<taken> take_lock(site& at, const ask& want, take_terms how) {
    const auto once = [&] { return attempt_once(at, want, how); };
    co_return co_await with_row_made(at, want.name, once);
}

// If the connection with the user lock is cut, the user lock is already free. Any connection may
// then send the release. If this client has lost the lock, it may still hold the user lock, which
// is released here.
asio::awaitable<released> release_lock(site& at, const hold& held, std::shared_ptr<carrier> bell) {
    if (bell && bell->is_cut())
        bell.reset();
    const answers said = co_await release_once(at, held, bell);
    const std::uint64_t told = answer_at(said, 0).insert_id;
    if (bell && told == 0)
        ring_off(at, held.name, std::move(bell));
    co_return released{.was_ours = (told & 2U) != 0, .others_wait = (told & 4U) != 0};
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
