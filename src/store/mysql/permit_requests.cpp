// SPDX-License-Identifier: Apache-2.0
#include "store/mysql/permit_requests.hpp"

#include "store/mysql/clauses.hpp"
#include "store/mysql/permit_texts.hpp"

namespace holdfast::mysql {

// Without a row there is no such semaphore: its permits are busy until somebody makes it.
asio::awaitable<taken> take_permits(site& at, const ask& want, take_terms how) {
    const std::string mark = at.next_mark(want.owner);
    const auto make = [&](const runtime::remote_clock& clock, const server_facts&) {
        return permit_attempt(at.named, want, {late_after(clock, how.deadline), at.info, mark});
    };
    composing text{make};
    call_wishes wishes{.may_meet_lock = permit_update_at};
    const answers said = co_await at.server.run(text, wishes);
    taken got{attempt_in(said, permit_update_at)};
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
