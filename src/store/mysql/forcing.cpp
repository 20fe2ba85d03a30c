// SPDX-License-Identifier: Apache-2.0
#include "store/mysql/forcing.hpp"

#include "store/mysql/clauses.hpp"
#include "store/mysql/other_kinds.hpp"
#include "store/mysql/packed_answer.hpp"
#include "store/mysql/two_writes.hpp"

#include <algorithm>
#include <vector>

namespace holdfast::mysql {
namespace {

/// Returns statements that lock the rows of this lock. They read the exclusive holder and the
/// readers.
std::vector<std::string> holders_locked(const site& at, const lock_name& name) {
    const std::string here = " WHERE name=" + hex(name.text), alive = ">" + std::string{now_text};
    return {"SELECT IF(expires" + alive + ",owner,NULL) FROM " + at.named.locks + here +
                " FOR UPDATE",
            "SELECT owner FROM " + at.named.holds + here + " AND kind=0 AND expires" + alive +
                " FOR UPDATE",
            "SELECT " + std::string{runs_text}, kinds_there(at.named, name)};
}

struct holders {
    std::optional<std::string> alone{};
    std::vector<std::string> readers{};

    std::vector<std::string> all() const {
        std::vector<std::string> names;
        if (alone)
            names.push_back(*alone);
        names.insert(names.end(), readers.begin(), readers.end());
        return names;
    }
};

holders holders_in(const answers& said) {
    holders found;
    if (const auto& rows = answer_at(said, 0).rows; !rows.empty() && !rows.front().empty())
        found.alone = rows.front().front();
    for (const auto& row : answer_at(said, 1).rows)
        found.readers.push_back(text_at(row, 0));
    return found;
}

bool is_meant(const force_wish& what, const holders& found) {
    const bool is_side = what.kind == lock_kind::read || what.kind == lock_kind::write;
    const bool right_side = !is_side || found.alone.has_value() == (*what.kind != lock_kind::read);
    const std::vector<std::string> all = found.all();
    return right_side && !all.empty() &&
           (what.only_from.empty() || std::ranges::count(all, what.only_from) > 0);
}

/// Returns the other kind that uses the name, in words. Null: no kind or only the expected kind
/// uses the name.
const char* what_is_instead(const force_wish& what, const result& kinds) {
    if (what.kind)
        return other_kind_in(kinds, reason_for(*what.kind));
    for (const auto& row : kinds.rows)
        if (const auto reason = static_cast<std::uint64_t>(number_at(row, 0));
            reason != mutex_reason && reason != shared_reason)
            return other_kind_for(reason);
    return nullptr;
}

std::vector<std::string> holders_ended(const site& at, const force_wish& what, const holders& found,
                                       const std::string& late) {
    const std::string here = " WHERE name=" + hex(what.name.text);
    const std::string in_time = " AND NOT " + is_late(late);
    std::vector<std::string> all;
    if (found.alone)
        all.push_back("UPDATE " + at.named.locks + " SET owner='',info='',expires=LEAST(expires," +
                      std::string{past_text} + ")" + here + " AND owner=" + hex(*found.alone) +
                      in_time);
    if (!found.readers.empty())
        all.push_back("DELETE FROM " + at.named.holds + here + " AND kind=0 AND owner IN " +
                      list_of(found.readers) + in_time);
    return all;
}

} // namespace

asio::awaitable<attempt> force_once(site& at, const force_wish& what, time_point deadline,
                                    forced& outcome) {
    two_writes both{at};
    const std::vector<std::string> reading = holders_locked(at, what.name);
    const answers said = co_await both.begin(reading);
    const holders found = holders_in(said);
    attempt got = clock_in(said, 2);
    const char* const instead = what_is_instead(what, answer_at(said, 3));
    const bool ends = !instead && is_meant(what, found);
    const two_writes::maker writing = [&](const runtime::remote_clock& clock) {
        return ends ? holders_ended(at, what, found, late_after(clock, deadline))
                    : std::vector<std::string>{};
    };
    const answers done = co_await both.end(writing);
    if (instead)
        throw_wrong_type(instead, what.kind ? words_for(*what.kind) : "a lock");
    outcome = {.was_locked = ends, .owners = found.all()};
    if (ends && answer_at(done, 0).matched == 0)
        got.said = verdict::late;
    co_return got;
}

} // namespace holdfast::mysql
