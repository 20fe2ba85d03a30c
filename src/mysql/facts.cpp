// SPDX-License-Identifier: Apache-2.0
#include "mysql/facts.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

namespace holdfast::mysql {
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

/// Returns an identifier of the server. MariaDB has no server_uuid. The identifier therefore
/// contains the data directory, which differs between two servers on one machine.
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
/// Session variables with the values that they must have. With other values a lock could get two
/// holders.
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

portrait portrait_of(const variables& global, const variables& status, bool sysdate_is_now) {
    portrait made;
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

/// Returns whether a row of SHOW REPLICA STATUS has a running thread. Both columns have kept their
/// positions since MySQL 4.1.
bool runs(const std::vector<std::optional<std::string>>& channel) {
    constexpr std::size_t receiver_at = 10, applier_at = 11;
    const auto is_on = [&](std::size_t column) {
        return column < channel.size() && channel[column] && *channel[column] != "No";
    };
    return is_on(receiver_at) || is_on(applier_at);
}

bool is_of_group(const std::vector<std::optional<std::string>>& channel) {
    return std::ranges::any_of(channel, [](const auto& value) {
        return value && value->starts_with("group_replication_");
    });
}

} // namespace

void judge_role(server_facts& facts, std::span<const result> said) {
    const result& counted = said.front();
    if (counted.error == 0 && counted.rows.size() == 1 && counted.rows[0].size() == 2) {
        const auto& row = counted.rows[0];
        facts.is_replica = facts.is_replica || (row[1] && *row[1] != "0");
        // The tables of the performance schema are empty if it is off. Empty tables then do not
        // mean that the server is no replica.
        facts.role_is_unknown = facts.role_is_unknown && row[0] != "1";
    }
    for (const result& shown : said.subspan(1)) {
        if (shown.error != 0) // no permission, or this version does not know the statement
            continue;
        facts.role_is_unknown = false;
        for (const auto& channel : shown.rows)
            facts.is_replica = facts.is_replica || (runs(channel) && !is_of_group(channel));
    }
}

std::optional<net::failure> objection_to(const portrait& of) {
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
            "the server does not tell this user whether it is a replica, and a "
            "replica's locks are not its primary's: GRANT REPLICATION CLIENT ON *.* "
            "to the user"};
    return std::nullopt;
}

std::optional<net::failure> objection_to_session(const variables& session) {
    for (const auto& [name, value] : session_wanted) {
        const std::string is = value_of(session, name);
        if (is != value)
            return net::failure{store_errc::unfit, "the session's " + std::string{name} +
                                                       " was set to " + std::string{value} +
                                                       ", and is \"" + is +
                                                       "\"; a proxy between "
                                                       "must let SET through"};
    }
    return std::nullopt;
}

} // namespace holdfast::mysql
