// SPDX-License-Identifier: Apache-2.0
#include "store/mysql/fair_requests.hpp"

#include "store/mysql/clauses.hpp"
#include "store/mysql/fair_texts.hpp"
#include "store/mysql/locked_tables.hpp"
#include "store/mysql/row_made.hpp"

namespace holdfast::mysql {
namespace {

asio::awaitable<taken> ask_for_turn(site& at, const ask& want, time_point deadline) {
    const auto make = [&](const runtime::remote_clock& clock, const server_facts&) {
        return fair_attempt(at.named, want, {late_after(clock, deadline), at.info});
    };
    composing text{make};
    call_wishes wishes{.may_meet_lock = fair_update_at};
    const answers said = co_await at.server.run(text, wishes);
    co_await refuse_locked_tables(at, said, fair_update_at);
    taken got{attempt_in(said, fair_update_at, want.kind)};
    got.no_row = found_no_row(said, fair_update_at);
    got.seen.token = 0;
    got.seen.queued = want.waits && got.seen.said == verdict::busy && !got.no_row;
    got.seen.joined_now = got.seen.queued && answer_at(said, fair_insert_at).matched == 1;
    co_return got;
}

} // namespace

asio::awaitable<taken> take_turn(site& at, const ask& want, take_terms how) {
    const auto once = [&] { return ask_for_turn(at, want, how.deadline); };
    co_return co_await with_row_made(at, want.name, once);
}

// Changes the lock's row first. The release thus waits for an attempt of the same owner that is
// still running, and sees its result.
asio::awaitable<released> release_turn(site& at, const hold& held, std::shared_ptr<carrier>) {
    const auto make = [&](const runtime::remote_clock&, const server_facts&) {
        return std::vector<std::string>{"START TRANSACTION", lock_release(at.named, held),
                                        turn_removed(at.named, held), "COMMIT"};
    };
    composing text{make};
    call_wishes room{.reserved = true};
    const answers said = co_await at.server.run(text, room);
    co_return released{.was_ours = answer_at(said, 1).insert_id == 2};
}

std::string turn_may_be_had(const site& at, const ask& want) {
    return turn_has_come(at.named, want);
}

} // namespace holdfast::mysql
