// SPDX-License-Identifier: Apache-2.0
#include "store/mysql/permit_requests.hpp"

#include "store/mysql/clauses.hpp"
#include "store/mysql/locked_tables.hpp"
#include "store/mysql/other_kinds.hpp"
#include "store/mysql/packed_answer.hpp"
#include "store/mysql/permit_texts.hpp"

namespace holdfast::mysql {

namespace {

/// Throws `store_errc::wrong_type` if another kind uses the name. Called after no semaphore was
/// found.
asio::awaitable<void> refuse_other_kind(site& at, const lock_name& name) {
    const auto make = [&](const runtime::remote_clock&, const server_facts&) {
        return std::vector<std::string>{kinds_there(at.named, name)};
    };
    composing text{make};
    const answers said = co_await at.server.run(text);
    if (const char* const other = other_kind_in(answer_at(said, 0), permits_reason))
        throw_wrong_type(other, words_for(lock_kind::permit));
}

} // namespace

// No row means that the semaphore does not exist. Its permits count as busy until the semaphore is
// created.
asio::awaitable<taken> take_permits(site& at, const ask& want, take_terms how) {
    const std::string mark = at.next_mark(want.owner);
    const auto make = [&](const runtime::remote_clock& clock, const server_facts&) {
        return permit_attempt(at.named, want, {late_after(clock, how.deadline), at.info, mark});
    };
    composing text{make};
    call_wishes wishes{.may_meet_lock = permit_update_at};
    const answers said = co_await at.server.run(text, wishes);
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

asio::awaitable<released> return_permits(site& at, const hold& held, std::shared_ptr<carrier>) {
    const auto make = [&](const runtime::remote_clock&, const server_facts&) {
        return permit_release(at.named, held);
    };
    composing text{make};
    call_wishes room{.reserved = true};
    const answers said = co_await at.server.run(text, room);
    co_return released{.was_ours = answer_at(said, permit_delete_at).matched == held.permits};
}

std::string permits_are_free(const site& at, const ask& want) {
    return permits_may_be_had(at.named, want);
}

} // namespace holdfast::mysql
