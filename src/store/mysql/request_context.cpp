// SPDX-License-Identifier: Apache-2.0
#include "store/mysql/request_context.hpp"

#include "net/failure.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <utility>

namespace holdfast::mysql {
namespace {

[[noreturn]] void throw_unexpected(const char* what) {
    throw net::failure{store_errc::protocol, what};
}

} // namespace

std::vector<std::string> with_one_wait(std::vector<std::string> all) {
    bool has_waited = false;
    for (std::string& each : all) {
        const bool writes = each.starts_with("INSERT") || each.starts_with("UPDATE") ||
                            each.starts_with("DELETE") || each.find(" FOR UPDATE") != each.npos;
        if (writes && std::exchange(has_waited, true))
            each.insert(0, "SET STATEMENT lock_wait_timeout=0 FOR ");
    }
    return all;
}

const result& answer_at(const answers& said, std::size_t which) {
    if (which >= said.of.size())
        throw_unexpected("the server answered fewer statements than were sent");
    return said.of[which];
}

const std::string& text_at(const std::vector<std::optional<std::string>>& row, std::size_t column) {
    if (column >= row.size() || !row[column])
        throw_unexpected("a value is missing in a row");
    return *row[column];
}

std::int64_t number_at(const std::vector<std::optional<std::string>>& row, std::size_t column) {
    const std::string& text = text_at(row, column);
    std::int64_t value = 0;
    const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (ec != std::errc{} || end != text.data() + text.size())
        throw_unexpected("a value in a row is not a number");
    return value;
}

attempt attempt_in(const answers& said, std::size_t update_at, lock_kind wanted) {
    const result& update = answer_at(said, update_at);
    attempt got;
    if (update.error != 0) { // only this statement may fail
        got.not_looked_at = true;
        got.holder_tells = false;
    } else {
        const packed_answer told = taken_apart(update.insert_id);
        if (told.other_kind)
            throw_wrong_type(told.other_kind, words_for(wanted));
        got.said = told.said;
        got.left = told.left;
        got.server_now = told.server_now;
        got.token = told.last_token;
    }
    got.sent_at = said.sent_at;
    got.received_at = said.received_at;
    got.clock = said.clock;
    return got;
}

attempt clock_in(const answers& said, std::size_t which) {
    const auto& row = answer_at(said, which).rows.at(0);
    attempt got;
    got.said = verdict::granted;
    got.server_now = std::chrono::microseconds{number_at(row, 0)};
    got.sent_at = said.sent_at;
    got.received_at = said.received_at;
    got.clock = said.clock;
    if (got.clock)
        got.clock->learn(got.sent_at, got.received_at, got.server_now);
    return got;
}

bool found_no_row(const answers& said, std::size_t update_at) {
    const result& update = answer_at(said, update_at);
    return update.error == 0 && update.insert_id == 0;
}

namespace {

/// Returns a statement that sets a short idle timeout. The server then soon ends a session whose
/// client sends nothing while a transaction is open.
std::string short_idle_time(bool is_mariadb) {
    return is_mariadb ? "SET SESSION idle_transaction_timeout=3" : "SET SESSION wait_timeout=3";
}

std::string usual_idle_time(bool is_mariadb, duration idle_limit) {
    constexpr std::int64_t least = 60;
    const auto idle = std::chrono::ceil<std::chrono::seconds>(idle_limit).count();
    return is_mariadb
               ? "SET SESSION idle_transaction_timeout=0"
               : "SET SESSION wait_timeout=" + std::to_string(std::max<std::int64_t>(idle, least));
}

} // namespace

read_then_write::read_then_write(request_context& at, call_options options)
    : at_{at}
    , options_{std::move(options)} {}

asio::awaitable<answers> read_then_write::begin(std::vector<std::string> reading) {
    constexpr std::size_t before = 2; // number of statements that precede `reading`
    const auto make = [&](const runtime::remote_clock&, const server_facts& facts) {
        usual_idle_time_ = usual_idle_time(facts.is_mariadb, facts.idle_limit);
        std::vector<std::string> all{short_idle_time(facts.is_mariadb), "START TRANSACTION"};
        all.insert(all.end(), reading.begin(), reading.end());
        return all;
    };
    composing text{make};
    call_options options = options_;
    options.leaves_open = true;
    // ROLLBACK does not restore session variables, so add a statement that restores the timeout.
    options.undo = &usual_idle_time_;
    answers said = co_await at_.server.run(text, options);
    (void)answer_at(said, before);
    said.of.erase(said.of.begin(), said.of.begin() + before);
    on_ = said.by;
    co_return said;
}

asio::awaitable<answers> read_then_write::end(maker writing) {
    const auto make = [&](const runtime::remote_clock& clock, const server_facts&) {
        std::vector<std::string> all = writing(clock);
        all.emplace_back("COMMIT");
        all.push_back(usual_idle_time_);
        return all;
    };
    composing text{make};
    call_options options = options_;
    options.on = on_;
    options.effect_at = 0;
    options.undo = &usual_idle_time_;
    co_return co_await at_.server.run(text, options);
}

namespace {

/// Returns an UPDATE of all tables that changes no row.
std::string all_touched(const tables& named) {
    return "UPDATE " + named.locks + " AS l," + named.holds + " AS h," + named.counters + " AS c," +
           named.requests +
           " AS r SET l.touched=l.touched,h.expires=h.expires,c.touched=c.touched,"
           "r.expires=r.expires WHERE FALSE";
}

} // namespace

// Sends statements that need all privileges but change no row. The INSERT also needs SELECT and
// UPDATE. All statements run in one transaction, so that the pool knows that a failed request has
// changed nothing.
asio::awaitable<void> refuse_missing_rights(request_context& at) {
    if (at.may_hold)
        co_return;
    constexpr std::size_t insert_at = 1;
    const auto make = [&](const runtime::remote_clock&, const server_facts&) {
        const std::string& holds = at.named.holds;
        return std::vector<std::string>{
            "START TRANSACTION",
            "INSERT INTO " + holds +
                " (name,kind,owner,expires) SELECT name,kind,owner,expires FROM " + holds +
                " AS h WHERE FALSE ON DUPLICATE KEY UPDATE expires=VALUES(expires)",
            "DELETE FROM " + holds + " WHERE FALSE", "COMMIT"};
    };
    composing text{make};
    const call_options options{.may_meet_lock = insert_at};
    try {
        const answers said = co_await at.server.run(text, options);
        co_await refuse_locked_tables(at, said, insert_at);
        at.may_hold = answer_at(said, insert_at).error == 0;
    } catch (const net::failure& e) {
        if (e.code() == errc::outcome_unknown) // the statements take no hold
            throw net::failure{errc::unreachable, e.text()};
        throw;
    }
}

namespace {

/// Returns whether the server lets no transaction commit (BACKUP STAGE BLOCK_COMMIT of MariaDB).
/// Inserts a row, deletes the row again, and commits. Only a transaction that has written waits for
/// the backup.
asio::awaitable<bool> are_commits_blocked(request_context& at) {
    constexpr std::size_t commit_at = 4;
    const auto make = [&](const runtime::remote_clock&, const server_facts& facts) {
        if (!facts.is_mariadb) // MySQL has no such state
            return std::vector<std::string>(commit_at + 1, "DO 0");
        const std::string& requests = at.named.requests;
        // No lock has an empty name, and no other session has this id.
        const std::string id = "CONCAT('probe-',CONNECTION_ID())";
        return std::vector<std::string>{
            "SET SESSION lock_wait_timeout=0",
            "START TRANSACTION",
            "INSERT INTO " + requests +
                " (name,kind,request,done,beyond,value,expires) VALUES ('',0," + id +
                ",0,0,0,UTC_TIMESTAMP(6))",
            "DELETE FROM " + requests + " WHERE name='' AND kind=0 AND request=" + id,
            "COMMIT",
            "SET SESSION lock_wait_timeout=1"};
    };
    composing text{make};
    call_options options{.effect_at = commit_at, .may_meet_lock = commit_at};
    const answers told = co_await at.server.run(text, options);
    co_return answer_at(told, commit_at).error != 0;
}

} // namespace

// Sends an UPDATE of all tables that changes no row. This UPDATE waits for table locks, but not for
// row locks. On MySQL, it waits for up to one second, because lock_wait_timeout cannot be shorter.
asio::awaitable<void> refuse_locked_tables(request_context& at, const answers& said,
                                           std::size_t update_at) {
    if (answer_at(said, update_at).error == 0)
        co_return;
    constexpr std::size_t write_at = 1;
    const auto make = [&](const runtime::remote_clock&, const server_facts& facts) {
        return std::vector<std::string>{std::string{"SET SESSION lock_wait_timeout="} +
                                            (facts.is_mariadb ? "0" : "1"),
                                        all_touched(at.named), "SET SESSION lock_wait_timeout=1"};
    };
    composing text{make};
    call_options options{.may_meet_lock = write_at};
    bool are_locked = false;
    try {
        const answers told = co_await at.server.run(text, options);
        are_locked = answer_at(told, write_at).error != 0;
        if (!are_locked)
            are_locked = co_await are_commits_blocked(at);
    } catch (const net::failure& e) {
        if (e.code() != errc::refused) // the user may lack a privilege for this UPDATE
            throw;
    }
    if (are_locked)
        throw net::failure{store_errc::try_again,
                           "the tables of locks are locked against writes, by FLUSH TABLES WITH "
                           "READ LOCK, LOCK TABLES or BACKUP STAGE BLOCK_COMMIT, as a backup does"};
}

} // namespace holdfast::mysql
