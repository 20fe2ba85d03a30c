// SPDX-License-Identifier: Apache-2.0
#include "store/mysql/lock_requests.hpp"

#include "store/mysql/sql.hpp"
#include "store/mysql/waiting.hpp"

#include <boost/system/system_error.hpp>

#include <cstdint>
#include <optional>
#include <utility>

namespace holdfast::mysql {
namespace {

bool rings_bell(const request_context& at, const hold& of) {
    return verbs_of(of.kind)->has_bell && at.server.has_bells();
}

using attempt_text = std::string (*)(const tables&, const ask&, const attempt_terms&);

/// Sends one attempt to take the lock. If `bell` is not empty, the attempt also takes the user lock
/// (GET_LOCK) with this name. If a writer makes the attempt, the request also inserts or deletes
/// the writer's mark. A mark is a row that says that a writer waits.
asio::awaitable<answers> ask_for_lock(request_context& at, const ask& want, const take_terms& how,
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
    // Ignore errors of the statements that write the mark of a waiting writer. The result of the
    // attempt does not depend on this mark.
    call_options options{.on = how.on, .rest_is_hint = true, .may_meet_lock = 0};
    const std::string undo = bell_dropped(bell);
    if (!bell.empty())
        options.undo = &undo;
    co_return co_await at.server.run(text, options);
}

/// Returns whether the user lock (GET_LOCK) may have caused the error: user locks may deadlock, and
/// some servers have none.
bool may_be_the_bell(const error_code& failed) {
    return failed == store_errc::try_again || failed == store_errc::other;
}

/// Sends an attempt that also takes the user lock (GET_LOCK), which notifies waiters. If the server
/// may have refused the user lock, sends the attempt again without it. If the server always refuses
/// user locks, this client stops asking for them.
asio::awaitable<answers> ask_with_bell(request_context& at, const ask& want, const take_terms& how,
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

asio::awaitable<answers> ask_in_words(request_context& at, const ask& want, const take_terms& how,
                                      attempt_text text_of) {
    const std::string none;
    if (rings_bell(at, want))
        co_return co_await ask_with_bell(at, want, how, text_of);
    co_return co_await ask_for_lock(at, want, how, text_of, none);
}

asio::awaitable<taken> attempt_once(request_context& at, const ask& want, const take_terms& how) {
    answers said;
    if (how.may_be_free && want.kind != lock_kind::write)
        said = co_await ask_in_words(at, want, how, lock_attempt_if_free);
    // The short attempt does not say why it failed. So make the full attempt now.
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
    got.seen.queued = remote::may_be_marked(want, got.seen.said);
    co_return got;
}

asio::awaitable<answers> release_once(request_context& at, const hold& held,
                                      std::shared_ptr<pinned_connection> bell) {
    const std::string name = bell ? at.bell(held.name) : "";
    const auto make = [&](const runtime::remote_clock&, const server_facts&) {
        std::vector<std::string> all{lock_release(at.named, held, name)};
        if (held.kind == lock_kind::write)
            all.push_back(mark_removed(at.named, held));
        return all;
    };
    composing text{make};
    call_options options{.on = bell, .rest_is_hint = true, .reserved = true};
    const std::string undo = bell_dropped(name);
    if (bell)
        options.undo = &undo;
    co_return co_await at.server.run(text, options);
}

} // namespace

asio::awaitable<taken> take_lock(request_context& at, const ask& want, take_terms how) {
    if (want.kind == lock_kind::write)
        co_await refuse_missing_rights(at);
    const auto once = [&] { return attempt_once(at, want, how); };
    co_return co_await with_row_made(at, want.name, once);
}

// If the connection with the user lock has ended, the server has freed the user lock. Any
// connection may then send the release. Even if this client has lost the lock, the release must
// free the user lock.
asio::awaitable<released> release_lock(request_context& at, const hold& held,
                                       std::shared_ptr<pinned_connection> bell) {
    if (bell && bell->is_cut())
        bell.reset();
    const answers said = co_await release_once(at, held, bell);
    const std::uint64_t told = answer_at(said, 0).insert_id;
    if (bell && told == 0)
        ring_off(at, held.name, std::move(bell));
    co_return released{.was_ours = (told & 2U) != 0, .others_wait = (told & 4U) != 0};
}

asio::awaitable<attempt> move_hold(request_context& at, const hold& held, const ask& wanted,
                                   time_point deadline) {
    constexpr std::uint64_t moved = 1, was_late = 2;
    const auto make = [&](const runtime::remote_clock& clock, const server_facts&) {
        const attempt_terms terms{.late = late_after(clock, deadline), .info = at.info};
        return std::vector<std::string>{lock_transfer(at.named, held, wanted, terms),
                                        "SELECT " + std::string{runs_text}};
    };
    composing text{make};
    const answers said = co_await at.server.run(text);
    const std::uint64_t told = answer_at(said, 0).insert_id;
    attempt got = clock_in(said, 1);
    got.said = told == moved ? verdict::granted : told == was_late ? verdict::late : verdict::busy;
    co_return got;
}

std::string lock_may_be_had(const request_context& at, const ask& want) {
    const std::string name = hex(want.name.text), now{now_text};
    std::string free = "NOT EXISTS(SELECT 1 FROM " + at.named.locks + " WHERE name=" + name +
                       " AND expires>" + now + ")";
    if (want.kind == lock_kind::write)
        free += " AND NOT EXISTS(SELECT 1 FROM " + at.named.holds + " WHERE name=" + name +
                " AND kind=0 AND expires>" + now + " AND owner<>" + hex(owner_beside(want)) + ")";
    return free;
}

namespace {

asio::awaitable<taken> let_in_once(request_context& at, const ask& want, time_point deadline) {
    // Use a new `mark` for each retry, because the failed attempt may have committed its own mark
    // in the row.
    const auto make = [&](const runtime::remote_clock& clock, const server_facts&) {
        const std::string mark = at.next_mark(want.owner);
        return read_attempt(at.named, want, {late_after(clock, deadline), at.info, mark});
    };
    composing text{make};
    call_options options{.effect_at = read_insert_at, .may_meet_lock = read_update_at};
    const answers said = co_await at.server.run(text, options);
    co_await refuse_locked_tables(at, said, read_update_at);
    taken got{attempt_in(said, read_update_at, want.kind)};
    got.no_row = found_no_row(said, read_update_at);
    // The UPDATE ran before the deadline, but the INSERT ran after it. So no hold was stored.
    if (got.seen.said == verdict::granted && answer_at(said, read_insert_at).matched == 0)
        got.seen.said = verdict::late;
    got.seen.token = 0;
    co_return got;
}

} // namespace

asio::awaitable<taken> take_to_read(request_context& at, const ask& want, take_terms how) {
    co_await refuse_missing_rights(at);
    const auto once = [&] { return let_in_once(at, want, how.deadline); };
    co_return co_await with_row_made(at, want.name, once);
}

asio::awaitable<released> release_read(request_context& at, const hold& held,
                                       std::shared_ptr<pinned_connection>) {
    const auto make = [&](const runtime::remote_clock&, const server_facts&) {
        return read_release(at.named, held);
    };
    composing text{make};
    call_options reserved{.reserved = true};
    const answers said = co_await at.server.run(text, reserved);
    co_return released{.was_ours = answer_at(said, read_delete_at).matched > 0};
}

std::string may_be_read(const request_context& at, const ask& want) {
    const std::string name = hex(want.name.text), now{now_text};
    return "NOT EXISTS(SELECT 1 FROM " + at.named.locks + " WHERE name=" + name + " AND expires>" +
           now + ") AND NOT EXISTS(SELECT 1 FROM " + at.named.holds + " WHERE name=" + name +
           " AND kind=1 AND expires>" + now + ")";
}

namespace {

asio::awaitable<taken> ask_for_turn(request_context& at, const ask& want, time_point deadline) {
    const auto make = [&](const runtime::remote_clock& clock, const server_facts&) {
        return fair_attempt(at.named, want, {late_after(clock, deadline), at.info});
    };
    composing text{make};
    call_options options{.may_meet_lock = fair_update_at};
    const answers said = co_await at.server.run(text, options);
    co_await refuse_locked_tables(at, said, fair_update_at);
    taken got{attempt_in(said, fair_update_at, want.kind)};
    got.no_row = found_no_row(said, fair_update_at);
    got.seen.token = 0;
    got.seen.queued = want.waits && got.seen.said == verdict::busy && !got.no_row;
    got.seen.joined_now = got.seen.queued && answer_at(said, fair_insert_at).matched == 1;
    co_return got;
}

} // namespace

asio::awaitable<taken> take_turn(request_context& at, const ask& want, take_terms how) {
    co_await refuse_missing_rights(at);
    const auto once = [&] { return ask_for_turn(at, want, how.deadline); };
    co_return co_await with_row_made(at, want.name, once);
}

// Change the lock's row first. If an attempt of the same owner is running, the release then waits
// for this attempt, and sees its result.
asio::awaitable<released> release_turn(request_context& at, const hold& held,
                                       std::shared_ptr<pinned_connection>) {
    const auto make = [&](const runtime::remote_clock&, const server_facts&) {
        return std::vector<std::string>{"START TRANSACTION", lock_release(at.named, held),
                                        turn_removed(at.named, held), "COMMIT"};
    };
    composing text{make};
    call_options reserved{.reserved = true};
    const answers said = co_await at.server.run(text, reserved);
    co_return released{.was_ours = answer_at(said, 1).insert_id == 2};
}

std::string turn_may_be_had(const request_context& at, const ask& want) {
    return turn_has_come(at.named, want);
}

namespace {

/// Throws `store_errc::wrong_type` if another kind of lock or counter uses the name. Call this
/// function if no semaphore has this name.
asio::awaitable<void> refuse_other_kind(request_context& at, const lock_name& name) {
    const auto make = [&](const runtime::remote_clock&, const server_facts&) {
        return std::vector<std::string>{kinds_there(at.named, name)};
    };
    composing text{make};
    const answers said = co_await at.server.run(text);
    if (const char* const other = other_kind_in(answer_at(said, 0), permits_reason))
        throw_wrong_type(other, words_for(lock_kind::permit));
}

} // namespace

// If the semaphore does not exist (it has no row), the result is "busy" until the semaphore is
// created.
asio::awaitable<taken> take_permits(request_context& at, const ask& want, take_terms how) {
    co_await refuse_missing_rights(at);
    // Use a new `mark` for each retry, because the failed attempt may have committed its own mark
    // in the row.
    const auto make = [&](const runtime::remote_clock& clock, const server_facts&) {
        const std::string mark = at.next_mark(want.owner);
        return permit_attempt(at.named, want, {late_after(clock, how.deadline), at.info, mark});
    };
    composing text{make};
    call_options options{.effect_at = permit_insert_at, .may_meet_lock = permit_update_at};
    const answers said = co_await at.server.run(text, options);
    co_await refuse_locked_tables(at, said, permit_update_at);
    taken got{attempt_in(said, permit_update_at, want.kind)};
    const bool is_there = !found_no_row(said, permit_update_at);
    if (!is_there)
        co_await refuse_other_kind(at, want.name);
    if (got.seen.said == verdict::granted &&
        answer_at(said, permit_insert_at).matched < want.permits)
        got.seen.said = verdict::late;
    got.seen.token = 0;
    co_return got;
}

asio::awaitable<released> return_permits(request_context& at, const hold& held,
                                         std::shared_ptr<pinned_connection>) {
    const auto make = [&](const runtime::remote_clock&, const server_facts&) {
        return permit_release(at.named, held);
    };
    composing text{make};
    call_options reserved{.reserved = true};
    const answers said = co_await at.server.run(text, reserved);
    co_return released{.was_ours = answer_at(said, permit_delete_at).matched == held.permits};
}

std::string permits_are_free(const request_context& at, const ask& want) {
    return permits_may_be_had(at.named, want);
}

namespace {

constexpr verbs exclusive{take_lock, release_lock, kept_in::locks, lock_may_be_had, true};
constexpr verbs fair{take_turn, release_turn, kept_in::locks, turn_may_be_had};
constexpr verbs of_readers{take_to_read, release_read, kept_in::readers, may_be_read};
constexpr verbs of_writers{take_lock, release_lock, kept_in::locks, lock_may_be_had};
constexpr verbs of_permits{take_permits, return_permits, kept_in::permits, permits_are_free};

} // namespace

// Kinds of locks in this store. Only waiters of exclusive locks wait for a user lock; other waiters
// poll. Spin locks, token locks, semaphores without leases and rate limiters exist only on Redis.
const verbs* verbs_of(lock_kind kind) noexcept {
    switch (kind) {
    case lock_kind::plain:
    case lock_kind::fenced:
        return &exclusive;
    case lock_kind::fair:
        return &fair;
    case lock_kind::read:
        return &of_readers;
    case lock_kind::write:
        return &of_writers;
    case lock_kind::permit:
        return &of_permits;
    case lock_kind::spin:
    case lock_kind::token:
        break;
    }
    return nullptr;
}

} // namespace holdfast::mysql
