// SPDX-License-Identifier: Apache-2.0
#include "store/mysql/inspector.hpp"

#include "store/mysql/counters.hpp"
#include "store/mysql/lock_statements.hpp"
#include "store/remote/attempts.hpp"
#include "store/remote/listing.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

namespace holdfast::mysql {
namespace {

/// Two limits of a list: maximum number of names in one answer, and maximum number of answers.
constexpr std::size_t names_at_once = 500;
constexpr int answers_max = 200;

} // namespace

asio::awaitable<std::vector<lock_state>> row_inspector::states_of(std::vector<std::string> names) {
    const auto make = [&](const runtime::remote_clock&, const server_facts&) {
        return states_asked(at_.named, names);
    };
    composing text{make};
    const answers said = co_await at_.server.run(text);
    co_return states_in(names, answer_at(said, 0), answer_at(said, 1), answer_at(said, 2));
}

asio::awaitable<std::optional<lock_state>> row_inspector::describe(lock_name name) {
    std::vector<std::string> one;
    one.push_back(std::move(name.text));
    std::vector<lock_state> found = co_await states_of(std::move(one));
    if (found.empty())
        co_return std::nullopt;
    co_return std::move(found.front());
}

asio::awaitable<std::optional<holding>> row_inspector::inspect(lock_name name) {
    const std::optional<lock_state> found = co_await describe(std::move(name));
    if (!found)
        co_return std::nullopt;
    co_return holding_of(*found);
}

asio::awaitable<std::uint64_t> row_inspector::last_token(lock_name name) {
    std::vector<std::string> one;
    one.push_back(name.text);
    const auto make = [&](const runtime::remote_clock&, const server_facts&) {
        return states_asked(at_.named, one);
    };
    composing text{make};
    const answers said = co_await at_.server.run(text);
    const auto& rows = answer_at(said, 0).rows;
    co_return rows.empty() ? 0 : static_cast<std::uint64_t>(number_at(rows.front(), 4));
}

asio::awaitable<lock_list> row_inspector::list(std::string pattern, std::size_t limit) {
    lock_list all;
    std::string behind;
    for (int asked = 0; asked < answers_max; ++asked) {
        const auto make = [&](const runtime::remote_clock&, const server_facts&) {
            return std::vector<std::string>{held_names(at_.named, behind, names_at_once)};
        };
        composing text{make};
        const answers said = co_await at_.server.run(text);
        const auto& rows = answer_at(said, 0).rows;
        std::vector<std::string> names;
        for (const auto& row : rows) {
            behind = text_at(row, 0);
            if (remote::matches(pattern, behind))
                names.push_back(behind);
        }
        std::vector<lock_state> described;
        if (!names.empty())
            described = co_await states_of(std::move(names));
        for (lock_state& each : described) {
            if (!each.is_held) // the lock was released in the meantime
                continue;
            if (all.locks.size() == limit) {
                all.complete = false;
                co_return all;
            }
            all.locks.push_back(std::move(each));
        }
        if (rows.size() < names_at_once)
            co_return all;
    }
    all.complete = false;
    co_return all;
}

asio::awaitable<forced> row_inspector::force_release(lock_name name, std::string only_from) {
    return force(std::move(name), std::move(only_from), std::nullopt);
}

asio::awaitable<forced> row_inspector::force_kind(lock_name name, lock_kind kind) {
    return force(std::move(name), {}, kind);
}

asio::awaitable<forced> row_inspector::force(lock_name name, std::string only_from,
                                             std::optional<lock_kind> kind) {
    forced outcome;
    const force_options what{name, std::move(only_from), kind};
    const ask nobody{std::move(name), {}, lock_kind::plain};
    remote::attempts::sender send = [&](time_point deadline) {
        return force_once(at_, what, deadline, outcome);
    };
    co_await remote::look_once(at_.context, nobody, at_.server.command_timeout(), std::move(send));
    co_return outcome;
}

asio::awaitable<std::unique_ptr<watch>> row_inspector::listen(lock_name name, alarm& wake) {
    co_return poller_.enrol(lock_is_free(at_.named, name), wake);
}

namespace {

/// Returns statements that lock the rows of this lock, and read the exclusive holder and the
/// readers. The last two statements change no row: they fail if the user lacks a privilege that is
/// needed later, so that nothing is committed.
std::vector<std::string> holders_locked(const request_context& at, const lock_name& name) {
    const std::string here = " WHERE name=" + hex(name.text), alive = ">" + std::string{now_text};
    return {"SELECT IF(expires" + alive + ",owner,NULL) FROM " + at.named.locks + here +
                " FOR UPDATE",
            "SELECT owner FROM " + at.named.holds + here + " AND kind=0 AND expires" + alive +
                " FOR UPDATE",
            "SELECT " + std::string{runs_text},
            kinds_there(at.named, name),
            "UPDATE " + at.named.locks + " SET touched=touched WHERE FALSE",
            "DELETE FROM " + at.named.holds + " WHERE FALSE"};
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

bool is_meant(const force_options& what, const holders& found) {
    const bool is_side = what.kind == lock_kind::read || what.kind == lock_kind::write;
    const bool right_side = !is_side || found.alone.has_value() == (*what.kind != lock_kind::read);
    const std::vector<std::string> all = found.all();
    return right_side && !all.empty() &&
           (what.only_from.empty() || std::ranges::count(all, what.only_from) > 0);
}

/// If another kind than the expected one uses the name, returns this other kind, as text for
/// messages. Returns null if the name is unused, or if the expected kind uses it.
const char* what_is_instead(const force_options& what, const result& kinds) {
    if (what.kind)
        return other_kind_in(kinds, reason_for(*what.kind));
    for (const auto& row : kinds.rows)
        if (const auto reason = static_cast<std::uint64_t>(number_at(row, 0));
            reason != mutex_reason && reason != shared_reason)
            return other_kind_for(reason);
    return nullptr;
}

std::vector<std::string> holders_ended(const request_context& at, const force_options& what,
                                       const holders& found, const std::string& late) {
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

asio::awaitable<attempt> force_once(request_context& at, const force_options& what,
                                    time_point deadline, forced& outcome) {
    read_then_write both{at};
    const std::vector<std::string> reading = holders_locked(at, what.name);
    const answers said = co_await both.begin(reading);
    const holders found = holders_in(said);
    attempt got = clock_in(said, 2);
    const char* const instead = what_is_instead(what, answer_at(said, 3));
    const bool ends = !instead && is_meant(what, found);
    const read_then_write::maker writing = [&](const runtime::remote_clock& clock) {
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

namespace {

const std::string at_asking{now_text};

std::string microseconds_left() {
    return "TIMESTAMPDIFF(MICROSECOND," + at_asking + ",expires)";
}

duration left_in(std::int64_t remaining) {
    return std::max(std::chrono::ceil<duration>(std::chrono::microseconds{remaining}),
                    duration::zero());
}

lock_owner owner_in(const std::string& text, const std::string& info) {
    lock_owner one{.text = text, .is_holdfast = is_ours(text)};
    one.client = client_info_in(info);
    return one;
}

/// Adds a row of the table of locks to the state of its lock. The columns are name, owner, kind,
/// remaining time, token and info.
void add_lock(lock_state& told, const std::vector<std::optional<std::string>>& row) {
    const std::int64_t left = number_at(row, 3);
    told.last_token = static_cast<std::uint64_t>(number_at(row, 4));
    told.is_held = left > 0;
    if (!told.is_held)
        return;
    told.token = told.last_token;
    told.remaining = left_in(left);
    lock_owner& holder = told.owners.emplace_back(owner_in(text_at(row, 1), text_at(row, 5)));
    holder.writes = number_at(row, 2) == static_cast<int>(kind_column::shared);
    if (holder.writes)
        told.kind = key_kind::read_write_lock;
}

/// Adds a row of the table of holds to the state of its lock. The columns are name, kind, owner,
/// remaining time and info.
void add_hold(lock_state& told, const std::vector<std::optional<std::string>>& row) {
    const auto kind = static_cast<hold_row>(number_at(row, 1));
    if (kind != hold_row::turn)
        told.kind = key_kind::read_write_lock;
    const duration left = left_in(number_at(row, 3));
    lock_owner one = owner_in(text_at(row, 2), text_at(row, 4));
    if (kind != hold_row::reader) {
        told.waiters.push_back({.text = one.text, .is_holdfast = one.is_holdfast});
        told.waiters.back().client = one.client;
        told.waiters.back().remaining = left;
        return;
    }
    one.remaining = left;
    told.owners.push_back(std::move(one));
    told.remaining = std::max(told.remaining.value_or(left), left);
    told.is_held = true;
}

/// Records that a counter uses the name, unless a lock uses the name. Call this function only if a
/// counter with this name exists.
void add_counter(lock_state& told) {
    if (!told.owners.empty() || !told.waiters.empty())
        return;
    told.kind = key_kind::other;
    told.is_held = true;
}

} // namespace

std::vector<std::string> states_asked(const tables& named, const std::vector<std::string>& names) {
    const std::string which = " WHERE name IN " + list_of(names);
    return {
        "SELECT name,owner,kind," + microseconds_left() + ",token,info FROM " + named.locks + which,
        "SELECT name,kind,owner," + microseconds_left() + ",info FROM " + named.holds + which +
            " AND kind IN (0,1,3) AND expires>" + at_asking + " ORDER BY name,kind,token,owner",
        "SELECT DISTINCT name,kind FROM " + named.counters + which + " AND " + living_counter()};
}

std::vector<lock_state> states_in(const std::vector<std::string>& names, const result& locks,
                                  const result& holds, const result& counters) {
    std::map<std::string, lock_state> all;
    for (const auto& row : locks.rows)
        add_lock(all[text_at(row, 0)], row);
    for (const auto& row : holds.rows) {
        const auto [found, is_new] = all.try_emplace(text_at(row, 0));
        if (is_new)
            found->second.is_held = false;
        add_hold(found->second, row);
    }
    for (const auto& row : counters.rows)
        add_counter(all[text_at(row, 0)]);
    std::vector<lock_state> told;
    for (const std::string& name : names) {
        const auto found = all.find(name);
        if (found == all.end() || (!found->second.is_held && found->second.waiters.empty()))
            continue;
        lock_state& one = told.emplace_back(std::move(found->second));
        one.name = name;
        one.type = "row";
        one.waiting = one.waiters.size();
        all.erase(found);
    }
    return told;
}

std::optional<holding> holding_of(const lock_state& told) {
    if (!told.is_held)
        return std::nullopt;
    holding found;
    found.kind = told.kind;
    if (told.kind == key_kind::other)
        found.other = "a leased semaphore or a latch";
    found.remaining = told.remaining;
    // Only readers have a lease of their own. So an owner without `remaining` holds the lock
    // exclusively.
    const auto has_it_alone = [](const lock_owner& each) { return !each.remaining.has_value(); };
    found.alone = std::ranges::any_of(told.owners, has_it_alone);
    for (const lock_owner& each : told.owners)
        found.owners.push_back(each.text);
    found.shared = told.owners.size() > (found.alone ? 1U : 0U);
    return found;
}

std::string held_names(const tables& named, const std::string& behind, std::size_t at_most) {
    const std::string some =
        " AND expires>" + at_asking + " ORDER BY name LIMIT " + std::to_string(at_most) + ")";
    const std::string where = " WHERE name>" + hex(behind);
    return "(SELECT name FROM " + named.locks + where + some +
           " UNION (SELECT DISTINCT name FROM " + named.holds + where + " AND kind=0" + some +
           " ORDER BY name LIMIT " + std::to_string(at_most);
}

std::string lock_is_free(const tables& named, const lock_name& name) {
    const std::string here = " WHERE name=" + hex(name.text) + " AND expires>" + at_asking;
    return "NOT EXISTS(SELECT 1 FROM " + named.locks + here + ") AND NOT EXISTS(SELECT 1 FROM " +
           named.holds + here + " AND kind=0)";
}

namespace {

/// Maximum length of each text in a description, in bytes. Three texts, two numbers and the tabs
/// must fit into the column `info`.
constexpr std::size_t word_bytes_max = 64;

constexpr std::size_t uuid_size = 36;
constexpr std::size_t mark_at = 14;
constexpr std::string_view mark_of_ours = "8fd5";

std::string word(std::string_view text) {
    std::string fits{text.substr(0, word_bytes_max)};
    std::ranges::replace(fits, '\t', ' ');
    return fits;
}

std::vector<std::string_view> words_of(std::string_view info) {
    std::vector<std::string_view> words;
    for (std::size_t tab = info.find('\t'); tab != info.npos; tab = info.find('\t')) {
        words.push_back(info.substr(0, tab));
        info.remove_prefix(tab + 1);
    }
    words.push_back(info);
    return words;
}

std::optional<std::int64_t> number_in(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (ec != std::errc{} || end != text.data() + text.size())
        return std::nullopt;
    return value;
}

} // namespace

std::string written(const client_info& info) {
    return word(info.host) + '\t' + std::to_string(info.pid) + '\t' + word(info.program) + '\t' +
           word(info.label) + '\t' + std::to_string(info.since.count());
}

std::optional<client_info> client_info_in(std::string_view info) {
    const std::vector<std::string_view> words = words_of(info);
    if (words.size() != 5)
        return std::nullopt;
    const auto pid = number_in(words[1]), since = number_in(words[4]);
    if (!pid || !since)
        return std::nullopt;
    return client_info{std::string{words[0]}, *pid, std::string{words[2]}, std::string{words[3]},
                       std::chrono::seconds{*since}};
}

bool is_ours(std::string_view owner) {
    return owner.size() > uuid_size && owner[uuid_size] == ':' &&
           owner.substr(mark_at, mark_of_ours.size()) == mark_of_ours;
}

} // namespace holdfast::mysql
