// SPDX-License-Identifier: Apache-2.0
#include "store/mysql/server_findings.hpp"

#include <utility>

namespace holdfast::mysql {
namespace {

using findings = std::vector<finding>;

void add(findings& all, severity how_bad, const char* topic, std::string what,
         std::string remedy = {}) {
    all.push_back({how_bad, topic, std::move(what), std::move(remedy)});
}

void judge_role(findings& all, const server_facts& it) {
    if (it.read_only)
        add(all, severity::danger, "role",
            "the server takes no writes: nothing can be locked there",
            "Give the address of the primary, or all addresses: the one that can be written is "
            "used.");
    else if (it.is_replica)
        add(all, severity::danger, "role",
            "the server is a replica that can be written: a lock would be granted there, too, "
            "beside the one at its primary",
            "Give the address of the primary, and set read_only = ON on each replica.");
    else if (it.has_several_writers)
        add(all, severity::note, "role",
            "each server of this cluster can be written: locks exclude each other, but user locks "
            "are each server's own, so waiters poll",
            "A cluster with one primary lets waiters be called.");
    else
        add(all, severity::fine, "role", "the server is a primary");
}

void judge_settings(findings& all, const server_facts& it) {
    if (it.sysdate_is_now)
        add(all, severity::danger, "settings",
            "sysdate_is_now is on: an attempt that comes late is granted",
            "Start the server without --sysdate-is-now.");
    if (it.binlog_format == "STATEMENT")
        add(all, severity::danger, "settings",
            "binlog_format is STATEMENT: replicas compute other tokens and ends of leases",
            "Set binlog_format = ROW, or MIXED.");
    if (it.strict_mode.find("STRICT_ALL_TABLES") == std::string::npos &&
        it.strict_mode.find("STRICT_TRANS_TABLES") == std::string::npos)
        add(all, severity::note, "settings",
            "the server's sql_mode is not strict: other programs that write these tables may have "
            "names cut to 255 bytes; holdfast's own sessions are strict",
            "Set sql_mode = STRICT_TRANS_TABLES.");
}

void judge_durability(findings& all, const server_facts& it) {
    if (it.flush_at_commit == "1")
        return add(all, severity::fine, "durability", "a grant survives a crash of the server");
    add(all, severity::warning, "durability",
        "innodb_flush_log_at_trx_commit is " + it.flush_at_commit +
            ": a crash may lose the grants of the last second, and give these locks to others",
        "Set it to 1.");
}

void judge_way(findings& all, const server_facts& it) {
    if (it.over_tls)
        return add(all, severity::fine, "tls", "the connection is encrypted");
    add(all, severity::note, "tls",
        "the connection is not encrypted: whoever is on the way reads and changes it",
        "Use ?tls=yes where the way leads over a network that others use.");
}

} // namespace

std::vector<finding> judge(const server_facts& it) {
    findings all;
    add(all, severity::fine, "version", (it.is_mariadb ? "MariaDB " : "MySQL ") + it.version);
    judge_role(all, it);
    judge_settings(all, it);
    judge_durability(all, it);
    judge_way(all, it);
    return all;
}

} // namespace holdfast::mysql
