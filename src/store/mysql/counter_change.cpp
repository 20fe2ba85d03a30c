// SPDX-License-Identifier: Apache-2.0
#include "store/mysql/counter_change.hpp"

#include "store/mysql/clauses.hpp"
#include "store/mysql/counter_texts.hpp"
#include "store/mysql/other_kinds.hpp"
#include "store/mysql/two_writes.hpp"

#include <string>
#include <vector>

namespace holdfast::mysql {
namespace {

/// Values that the first half of the transaction has read.
struct seen_counter {
    bool has_row = false;
    std::optional<counter_answer> before{}; ///< the outcome, if this request was carried out before
    counter_now now{};
    const char* other_kind = nullptr; ///< other kind that uses the name, in words; null: none
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
    changing(site& at, const counter_change& what, time_point deadline, duration memory)
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
    /// Ends the transaction, and sends the writes if `writes` is true. Returns whether the server
    /// ran the statements in time.
    asio::awaitable<bool> end(bool writes) {
        const two_writes::maker writing = [&](const runtime::remote_clock& clock) {
            return writes ? change_ended(at_.named, what_, effect_, mark_,
                                         late_after(clock, deadline_), memory_)
                          : std::vector<std::string>{};
        };
        const answers done = co_await both_.end(writing);
        co_return !writes || answer_at(done, 0).matched > 0;
    }

    site& at_;
    const counter_change& what_;
    const time_point deadline_;
    const duration memory_;
    const std::string mark_;
    counter_effect effect_;
    two_writes both_;
};

} // namespace

asio::awaitable<attempt> change_once(site& at, const counter_change& what, time_point deadline,
                                     duration memory, counter_answer& said) {
    changing one{at, what, deadline, memory};
    co_return co_await one.run(said);
}

} // namespace holdfast::mysql
