// SPDX-License-Identifier: Apache-2.0
#include "mysql/server_answers.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace holdfast::mysql {
namespace {

enum class then { nothing, again, leave, cut };

struct known_error {
    unsigned number;
    store_errc code;
    then what = then::nothing;
};

/// Errors after which the statement was certainly not executed.
constexpr std::array known_errors{
    known_error{1205, store_errc::try_again, then::again}, // the wait for a row lock timed out
    // Error 1213: a deadlock, or on Galera a conflict with a transaction of another node.
    known_error{1213, store_errc::try_again, then::again},
    // Error 3101: group replication uses this number for a conflict that Galera reports as 1213.
    known_error{3101, store_errc::try_again, then::again},
    known_error{1290, store_errc::read_only, then::leave},
    known_error{1792, store_errc::read_only, then::leave},
    known_error{1836, store_errc::read_only, then::leave},
    known_error{1047, store_errc::read_only, then::leave}, // Galera: the node is not ready
    known_error{3168, store_errc::read_only, then::leave},
    known_error{1040, store_errc::too_many_clients, then::cut},
    known_error{1203, store_errc::too_many_clients, then::cut},
    known_error{1226, store_errc::too_many_clients, then::cut},
    known_error{1044, store_errc::not_authenticated},
    known_error{1045, store_errc::not_authenticated, then::cut},
    known_error{1130, store_errc::not_authenticated, then::cut}, // this host may not connect
    known_error{1156, store_errc::not_authenticated, then::cut},
    known_error{1251, store_errc::not_authenticated, then::cut},
    known_error{1698, store_errc::not_authenticated, then::cut},
    known_error{1820, store_errc::not_authenticated, then::cut}, // the password must be changed
    known_error{1862, store_errc::not_authenticated, then::cut}, // the password has expired
    known_error{3118, store_errc::not_authenticated, then::cut}, // the account is locked
    known_error{4151, store_errc::not_authenticated, then::cut}, // the account is locked (MariaDB)
    known_error{2049, store_errc::not_authenticated, then::cut},
    known_error{2059, store_errc::not_authenticated, then::cut},
    known_error{2061, store_errc::not_authenticated, then::cut},
    known_error{5010, store_errc::not_authenticated, then::cut},
    known_error{1142, store_errc::no_permission},
    known_error{1143, store_errc::no_permission},
    known_error{1227, store_errc::no_permission},
    known_error{1370, store_errc::no_permission},
    known_error{1049, store_errc::not_set_up},
    known_error{1146, store_errc::not_set_up},
    known_error{1054, store_errc::not_set_up},
    known_error{1665, store_errc::unfit}, // binlog_format is STATEMENT
    known_error{1021, store_errc::disk_trouble},
    known_error{1114, store_errc::disk_trouble},
    known_error{3, store_errc::disk_trouble},
};

/// Errors after which nothing was executed, because no connection was made or the server is
/// shutting down.
constexpr std::array unreachable_errors{1053u, 1129u, 2001u, 2002u, 2003u, 2004u, 2005u, 2007u};

/// Errors of the server after which the outcome of a statement is unknown. They can abort a running
/// statement at any point.
constexpr std::array unknown_errors{1152u, 1158u, 1159u, 1160u, 1161u, 1180u,
                                    1317u, 1927u, 1969u, 3024u, 4031u};

/// Errors of libmariadb that mean that the reply violates the protocol.
constexpr std::array garbled_errors{2012u, 2014u, 2027u};

bool is_of_library(unsigned error) {
    return (error >= 2000 && error < 3000) || (error >= 5000 && error < 6000);
}

template <typename List>
bool is_one_of(const List& list, unsigned error) {
    return std::ranges::find(list, error) != list.end();
}

bool has(std::string_view words, std::string_view part) {
    return words.find(part) != words.npos;
}

/// Classifies a TLS error by the text of OpenSSL or libmariadb: either the certificate is not
/// trusted, or something else failed.
store_errc classify_tls(std::string_view words) {
    const bool untrusted = has(words, "certificate verify failed") || has(words, "self-signed") ||
                           has(words, "self signed") || has(words, "Validation of SSL server") ||
                           has(words, "unable to get") || has(words, "ostname mismatch") ||
                           has(words, "has expired") || has(words, "certificate is not trusted") ||
                           has(words, "IP address mismatch") || has(words, "not yet valid");
    return untrusted ? store_errc::untrusted : store_errc::tls_failed;
}

std::string hint_of(unsigned error) {
    switch (error) {
    case 1156:
    case 2059:
        return "libmariadb has no plug-in for the login method of this user; it looks for plug-ins "
               "in the folder of its package (libmariadb3)";
    case 5010:
        return "the server asks for the password in a way that others on the network could read; "
               "use TLS, or another plug-in for this user";
    case 1205:
        return "another session blocks the write: FLUSH TABLES WITH READ LOCK, LOCK TABLES, "
               "BACKUP STAGE BLOCK_COMMIT (mariabackup), or a transaction that has locked the "
               "rows; SHOW FULL PROCESSLIST lists the sessions";
    case 1203:
    case 1226:
        return "the limit is this account's (MAX_USER_CONNECTIONS, max_user_connections): raise "
               "it, "
               "or lower connections_max";
    case 1129:
        return "an administrator must run FLUSH HOSTS on this server";
    default:
        return {};
    }
}

/// Error ER_USER_LIMIT_REACHED. Only its text says which limit of the account was reached.
constexpr unsigned limit_of_account = 1226;

/// Returns whether a storage engine reports a full disk. Only the text contains the system's error
/// number (28 is ENOSPC).
bool is_full_disk(unsigned error, std::string_view words) {
    return (error == 1030 || error == 1026) && has(words, "28");
}

} // namespace

meaning classify(unsigned error, std::string_view words) {
    if (error == limit_of_account && has(words, "'max_") && !has(words, "max_user_connections"))
        return {.code = store_errc::other,
                .hint = "the account has reached one of its limits per hour; SHOW CREATE USER "
                        "shows the limits, and ALTER USER changes them"};
    const auto known = std::ranges::find(known_errors, error, &known_error::number);
    if (known != known_errors.end())
        return {.code = known->code,
                .again = known->what == then::again,
                .leave = known->what == then::leave,
                .cut = known->what == then::leave || known->what == then::cut,
                .hint = hint_of(error)};
    if (error == 2026)
        return {.code = classify_tls(words), .cut = true};
    if (is_full_disk(error, words))
        return {.code = store_errc::disk_trouble};
    if (is_one_of(garbled_errors, error))
        return {.code = store_errc::protocol, .cut = true};
    if (is_one_of(unreachable_errors, error))
        return {.code = make_error_code(errc::unreachable), .cut = true, .hint = hint_of(error)};
    if (is_one_of(unknown_errors, error) || is_of_library(error))
        return {.code = make_error_code(errc::outcome_unknown), .cut = true};
    return {.code = store_errc::other};
}

meaning classify_connecting(unsigned error, std::string_view words) {
    meaning found = classify(error, words);
    found.again = false;
    found.cut = true;
    if (found.code == errc::outcome_unknown)
        found.code = make_error_code(errc::unreachable);
    return found;
}

net::failure failure_of(const meaning& what, unsigned error, std::string_view words) {
    std::string text = "error " + std::to_string(error) + ": " + std::string{words};
    if (!what.hint.empty())
        text += " (" + what.hint + ")";
    return {what.code, std::move(text)};
}

namespace {

bool succeeded(const statement_answer& one) {
    return one.what.error == 0;
}

/// Returns whether a statement has matched rows. A COMMIT matches no rows, so a transaction that
/// changed nothing does not count as a change.
bool changed_rows(const statement_answer& one) {
    return succeeded(one) && one.what.matched > 0;
}

classification classify_success(std::span<const statement_answer> all,
                                const call_options& options) {
    using outcome = classification::outcome;
    const bool open = !all.empty() && all.back().open;
    if (!open)
        return {outcome::carried_out, all.size()};
    return {options.leaves_open ? outcome::left_open : outcome::unknown, all.size()};
}

} // namespace

classification classify(std::span<const statement_answer> all, bool was_open,
                        const call_options& options) {
    using outcome = classification::outcome;
    constexpr unsigned lock_wait_over = 1205;
    const auto found = std::ranges::find_if_not(all, succeeded);
    if (found == all.end())
        return classify_success(all, options);
    const auto failed = static_cast<std::size_t>(found - all.begin());
    if (failed == options.may_meet_lock && found->what.error == lock_wait_over)
        return {outcome::met_lock, failed};
    const bool in_transaction = failed == 0 ? was_open : all[failed - 1].open;
    if (!in_transaction && failed == 0)
        return {outcome::not_carried_out, failed};
    if (!in_transaction)
        return {options.rest_is_hint ? outcome::carried_out : outcome::unknown, failed};
    // Check whether the transaction is still open after the error. If it is, nothing was committed.
    // But some errors end the transaction; then each later statement is a transaction of its own,
    // and commits.
    const auto committed = [](const statement_answer& one) { return succeeded(one) && !one.open; };
    const bool went_on = std::any_of(found, all.end(), committed);
    const std::size_t effect_at = std::min(options.effect_at.value_or(0), all.size());
    const bool may_have_changed = (was_open && !options.effect_at) ||
                                  std::ranges::any_of(all.subspan(effect_at), changed_rows);
    return {went_on && may_have_changed ? outcome::unknown : outcome::not_carried_out, failed};
}

namespace {

std::string value_of(const variables& all, std::string_view name) {
    const auto found = all.find(name);
    return found == all.end() ? std::string{} : found->second;
}

bool is_on(const variables& all, std::string_view name) {
    const std::string value = value_of(all, name);
    return !value.empty() && value != "OFF" && value != "0" && value != "NO";
}

std::uint64_t number_of(const variables& all, std::string_view name) {
    const std::string value = value_of(all, name);
    std::uint64_t number = 0;
    std::from_chars(value.data(), value.data() + value.size(), number);
    return number;
}

bool has_several_primaries(const variables& global) {
    return !value_of(global, "group_replication_group_name").empty() &&
           value_of(global, "group_replication_single_primary_mode") == "OFF";
}

/// Returns a text that identifies the server. MariaDB has no server_uuid, so the text also contains
/// the data directory, which differs between two servers on one machine.
std::string server_of(const variables& global) {
    std::string uuid = value_of(global, "server_uuid");
    if (!uuid.empty())
        return uuid;
    return value_of(global, "hostname") + ":" + value_of(global, "port") + ":" +
           value_of(global, "server_id") + ":" + value_of(global, "datadir");
}

struct wanted {
    std::string_view name;
    std::string_view value;
};
/// Session variables with the values that they must have. With other values, two clients could get
/// the same lock.
constexpr std::array session_wanted{
    wanted{"autocommit", "ON"},
    wanted{"completion_type", "NO_CHAIN"},
    wanted{"sql_mode", "STRICT_ALL_TABLES"},
    wanted{"time_zone", "+00:00"},
};

} // namespace

variables variables_in(const result& of) {
    variables all;
    for (const auto& row : of.rows)
        if (row.size() == 2 && row[0])
            all.emplace(*row[0], row[1].value_or(""));
    return all;
}

server_info server_info_of(const variables& global, const variables& status, bool sysdate_is_now) {
    server_info made;
    server_facts& facts = made.facts;
    facts.version = value_of(global, "version");
    facts.is_mariadb = facts.version.find("MariaDB") != std::string::npos;
    facts.read_only = is_on(global, "read_only") || is_on(global, "super_read_only") ||
                      is_on(global, "innodb_read_only");
    facts.has_several_writers = is_on(global, "wsrep_on") || has_several_primaries(global);
    facts.is_replica = number_of(status, "Slaves_running") > 0 || is_on(status, "Slave_running");
    facts.role_is_unknown = !status.contains("Slaves_running") && !status.contains("Slave_running");
    facts.sysdate_is_now = sysdate_is_now;
    facts.binlog_format = value_of(global, "binlog_format");
    facts.flush_at_commit = value_of(global, "innodb_flush_log_at_trx_commit");
    facts.strict_mode = value_of(global, "sql_mode");
    facts.connections_of_user_max = number_of(global, "max_user_connections");
    facts.idle_limit = std::chrono::seconds{
        std::min<std::uint64_t>(number_of(global, "wait_timeout"), 365ull * 24 * 3600)};
    made.server = server_of(global);
    made.uptime = std::chrono::seconds{number_of(status, "Uptime")};
    made.is_ready = !is_on(global, "wsrep_on") || is_on(status, "wsrep_ready");
    return made;
}

namespace {

/// Columns of SHOW REPLICA STATUS with the states of the two replication threads. These columns
/// have had the same positions since MySQL 4.1.
constexpr std::size_t receiver_at = 10, applier_at = 11;

/// Returns whether a row of SHOW REPLICA STATUS has the states of both replication threads.
bool has_states(const std::vector<std::optional<std::string>>& channel) {
    return channel.size() > applier_at && channel[receiver_at] && channel[applier_at];
}

/// Returns whether a row of SHOW REPLICA STATUS shows a running replication thread.
bool runs(const std::vector<std::optional<std::string>>& channel) {
    return channel[receiver_at] != "No" || channel[applier_at] != "No";
}

bool is_of_group(const std::vector<std::optional<std::string>>& channel) {
    return std::ranges::any_of(channel, [](const auto& value) {
        return value && value->starts_with("group_replication_");
    });
}

} // namespace

void judge_role(server_facts& facts, std::span<const result> said) {
    bool is_known = false, is_unclear = false;
    const result& counted = said.front();
    if (counted.error == 0 && counted.rows.size() == 1 && counted.rows[0].size() == 2) {
        const auto& row = counted.rows[0];
        facts.is_replica = facts.is_replica || (row[1] && row[1] != "0");
        // Check that the performance schema is on. If it is off, its tables are empty even on a
        // replica.
        is_known = row[0] == "1" && row[1];
    }
    for (const result& shown : said.subspan(1)) {
        if (shown.error != 0) // no permission, or this version does not know the statement
            continue;
        is_known = true;
        for (const auto& channel : shown.rows) {
            if (is_of_group(channel))
                continue;
            is_unclear = is_unclear || !has_states(channel);
            facts.is_replica = facts.is_replica || (has_states(channel) && runs(channel));
        }
    }
    facts.role_is_unknown = is_unclear || (facts.role_is_unknown && !is_known);
}

std::optional<net::failure> objection_to(const server_info& of) {
    const server_facts& facts = of.facts;
    if (facts.sysdate_is_now)
        return net::failure{store_errc::unfit,
                            "the server runs with sysdate_is_now, so a request that was delayed "
                            "could take a lock late; run it without"};
    if (facts.binlog_format == "STATEMENT")
        return net::failure{store_errc::unfit,
                            "binlog_format is STATEMENT, so replicas would have other locks than "
                            "their primary; set it to ROW or MIXED"};
    if (!of.is_ready)
        return net::failure{store_errc::read_only,
                            "the node is not part of a cluster that can write (wsrep_ready)"};
    if (facts.read_only)
        return net::failure{store_errc::read_only, "the server is read-only"};
    if (facts.is_replica)
        return net::failure{store_errc::read_only,
                            "the server is a replica; its primary does not know locks that are "
                            "taken there"};
    if (facts.role_is_unknown)
        return net::failure{
            store_errc::unfit,
            "this user has no right to see whether the server is a replica, and the locks of a "
            "replica are not the locks of its primary: GRANT REPLICATION CLIENT ON *.* "
            "to the user"};
    return std::nullopt;
}

std::optional<net::failure> objection_to_session(const variables& session) {
    for (const auto& [name, value] : session_wanted) {
        const std::string is = value_of(session, name);
        if (is != value)
            return net::failure{
                store_errc::unfit,
                "the session's " + std::string{name} + " was set to " + std::string{value} +
                    ", and is \"" + is +
                    "\"; if there is a proxy before the server, it must pass SET on"};
    }
    return std::nullopt;
}

} // namespace holdfast::mysql
