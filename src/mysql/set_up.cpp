// SPDX-License-Identifier: Apache-2.0
#include "mysql/set_up.hpp"

#include "mysql/classify.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

namespace holdfast::mysql {
namespace {

/// Lower bound of the wait_timeout that is set for a session.
constexpr std::chrono::seconds idle_least{60};

std::string session_settings(duration keep_alive) {
    const auto idle = std::max(std::chrono::ceil<std::chrono::seconds>(3 * keep_alive), idle_least);
    // Reasons for the settings:
    // - time_zone: in a local time zone one hour occurs twice each autumn.
    // - sql_mode: without strict mode the server truncates a long name, and two locks become one.
    // - completion_type: chained transactions would leave a transaction open after each request.
    // - innodb_lock_wait_timeout: a wait for a row lock must end before the request's deadline, so
    // that
    //   the server can answer. MySQL checks this timeout once a second, and an attempt to read may
    //   wait twice.
    return "SET time_zone='+00:00',autocommit=1,sql_mode='STRICT_ALL_TABLES',completion_type=0,"
           "innodb_lock_wait_timeout=1,lock_wait_timeout=2,wait_timeout=" +
           std::to_string(idle.count());
}

constexpr const char* isolation =
    "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED, READ WRITE";

// SHOW is used because SELECT @@x would pin the connection in a proxy that multiplexes statements.
constexpr const char* session_question = "SHOW SESSION VARIABLES WHERE Variable_name IN "
                                         "('autocommit','completion_type','sql_mode','time_zone')";
constexpr const char* global_question =
    "SHOW GLOBAL VARIABLES WHERE Variable_name IN "
    "('version','read_only','super_read_only','innodb_read_only','wsrep_on','binlog_format',"
    "'group_replication_group_name','group_replication_single_primary_mode',"
    "'innodb_flush_log_at_trx_commit','sql_mode','max_user_connections','wait_timeout',"
    "'server_uuid','hostname','port','server_id','datadir')";
constexpr const char* status_question = "SHOW GLOBAL STATUS WHERE Variable_name IN "
                                        "('Slaves_running','Slave_running','wsrep_ready','Uptime')";
/// Asks for the server's clock, and whether SYSDATE() returns the time at which the statement
/// started. This test needs a statement that takes some microseconds. SLEEP is unsuitable, because
/// it hangs while the system date is being changed.
constexpr const char* clock_question =
    "SELECT UNIX_TIMESTAMP(SYSDATE(6)),BENCHMARK(100,SHA2('holdfast',256)),SYSDATE(6)=NOW(6)";

void require_success(const std::vector<said>& all) {
    for (const said& one : all)
        if (one.what.error != 0)
            throw failure_of(classify_connecting(one.what.error, one.what.words), one.what.error,
                             one.what.words);
}

const std::string* cell(const result& of, std::size_t column) {
    if (of.rows.size() != 1 || of.rows[0].size() <= column || !of.rows[0][column])
        return nullptr;
    return &*of.rows[0][column];
}

/// Parses a Unix time with fraction, for example "1795618060.751786".
std::optional<std::chrono::microseconds> seconds_in(const std::string& text) {
    const auto point = text.find('.');
    std::int64_t seconds = 0;
    const char* const end = text.data() + std::min(point, text.size());
    if (std::from_chars(text.data(), end, seconds).ptr != end)
        return std::nullopt;
    std::string fraction = point == text.npos ? "" : text.substr(point + 1);
    fraction.resize(6, '0');
    std::int64_t micros = 0;
    std::from_chars(fraction.data(), fraction.data() + fraction.size(), micros);
    return std::chrono::seconds{seconds} + std::chrono::microseconds{micros};
}

/// Reads the answers to the last three statements in `all`. Each set-up and each keep-alive ends
/// with these three statements.
portrait read(line& on, const std::vector<said>& all) {
    const std::size_t first = all.size() - 3;
    const result& time = all[first + 2].what;
    const std::string* const shown = cell(time, 0);
    const std::string* const same = cell(time, 2);
    const auto now = shown ? seconds_in(*shown) : std::nullopt;
    if (!now || !same)
        throw net::failure{store_errc::protocol, "the server does not tell its time"};
    on.clock()->learn(on.sent_at(), on.heard_at(), *now);
    return portrait_of(variables_in(all[first].what), variables_in(all[first + 1].what),
                       *same == "1");
}

/// Asks a server whether it is a replica. Does nothing if its status variables have already told.
/// The server may refuse some of the statements.
asio::awaitable<void> ask_for_role(line& on, portrait& found, time_point limit) {
    if (!found.facts.role_is_unknown)
        co_return;
    const std::vector<std::string> all{replica_questions.begin(), replica_questions.end()};
    std::vector<said> answers = co_await on.ask(all, limit);
    std::vector<result> told;
    told.reserve(answers.size());
    for (said& each : answers)
        told.push_back(std::move(each.what));
    judge_role(found.facts, told);
}

} // namespace

asio::awaitable<portrait> set_up(line& on, duration keep_alive, time_point limit) {
    const std::vector<std::string> all{session_settings(keep_alive),
                                       isolation,
                                       session_question,
                                       global_question,
                                       status_question,
                                       clock_question};
    const std::vector<said> answers = co_await on.ask(all, limit);
    require_success(answers);
    if (const auto objection = objection_to_session(variables_in(answers[2].what)))
        throw net::failure{*objection};
    portrait found = read(on, answers);
    co_await ask_for_role(on, found, limit);
    if (const auto objection = objection_to(found))
        throw net::failure{*objection};
    co_return found;
}

asio::awaitable<portrait> look_again(line& on, time_point limit) {
    const std::vector<std::string> all{global_question, status_question, clock_question};
    const std::vector<said> answers = co_await on.ask(all, limit);
    require_success(answers);
    portrait found = read(on, answers);
    co_await ask_for_role(on, found, limit);
    if (const auto objection = objection_to(found))
        throw net::failure{*objection};
    co_return found;
}

} // namespace holdfast::mysql
