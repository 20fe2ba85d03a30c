// SPDX-License-Identifier: Apache-2.0
#include "store/mysql/shared_requests.hpp"

#include "store/mysql/clauses.hpp"
#include "store/mysql/hold_texts.hpp"
#include "store/mysql/locked_tables.hpp"
#include "store/mysql/row_made.hpp"

namespace holdfast::mysql {
namespace {

asio::awaitable<taken> let_in_once(site& at, const ask& want, time_point deadline) {
    const std::string mark = at.next_mark(want.owner);
    const auto make = [&](const runtime::remote_clock& clock, const server_facts&) {
        return read_attempt(at.named, want, {late_after(clock, deadline), at.info, mark});
    };
    composing text{make};
    call_wishes wishes{.may_meet_lock = read_update_at};
    const answers said = co_await at.server.run(text, wishes);
    co_await refuse_locked_tables(at, said, read_update_at);
    taken got{attempt_in(said, read_update_at, want.kind)};
    got.no_row = found_no_row(said, read_update_at);
    // The server ran the UPDATE in time, but the INSERT too late.
    if (got.seen.said == verdict::granted && answer_at(said, read_insert_at).matched == 0)
        got.seen.said = verdict::late;
    got.seen.token = 0;
    co_return got;
}

} // namespace

asio::awaitable<taken> take_to_read(site& at, const ask& want, take_terms how) {
    const auto once = [&] { return let_in_once(at, want, how.deadline); };
    co_return co_await with_row_made(at, want.name, once);
}

asio::awaitable<released> release_read(site& at, const hold& held, std::shared_ptr<carrier>) {
    const auto make = [&](const runtime::remote_clock&, const server_facts&) {
        return read_release(at.named, held);
    };
    composing text{make};
    call_wishes room{.reserved = true};
    const answers said = co_await at.server.run(text, room);
    co_return released{.was_ours = answer_at(said, read_delete_at).matched > 0};
}

std::string may_be_read(const site& at, const ask& want) {
    const std::string name = hex(want.name.text), now{now_text};
    return "NOT EXISTS(SELECT 1 FROM " + at.named.locks + " WHERE name=" + name + " AND expires>" +
           now + ") AND NOT EXISTS(SELECT 1 FROM " + at.named.holds + " WHERE name=" + name +
           " AND kind=1 AND expires>" + now + ")";
}

} // namespace holdfast::mysql
