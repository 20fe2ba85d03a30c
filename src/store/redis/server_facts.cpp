// SPDX-License-Identifier: Apache-2.0
#include "store/redis/server_facts.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace holdfast::redis {
namespace {

constexpr long long oldest_version = 6;

long long leading_number(std::string_view text) {
    long long value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

} // namespace

server_facts::server_facts(std::string_view info, server_surroundings around)
    : around_{std::move(around)} {
    while (!info.empty()) {
        std::string_view line = info.substr(0, info.find('\n'));
        info.remove_prefix(std::min(line.size() + 1, info.size()));
        if (line.ends_with('\r'))
            line.remove_suffix(1);
        if (const std::size_t colon = line.find(':'); colon != line.npos)
            fields_.emplace(line.substr(0, colon), line.substr(colon + 1));
    }
}

std::string_view server_facts::text(std::string_view field) const {
    const auto found = fields_.find(field);
    return found == fields_.end() ? std::string_view{} : found->second;
}

long long server_facts::number(std::string_view field) const {
    return leading_number(text(field));
}

std::vector<finding> server_facts::judge() const {
    return {version(), eviction(), persistence(), clients()};
}

finding server_facts::version() const {
    const std::string_view valkey = text("valkey_version");
    const std::string_view number = valkey.empty() ? text("redis_version") : valkey;
    std::string name{valkey.empty() ? "Redis " : "Valkey "};
    name.append(number);
    if (leading_number(number) < oldest_version)
        return {severity::warning, "version", name, "Redis 6 is the oldest that is tested."};
    return {severity::fine, "version", name, ""};
}

// Judges the eviction policy. Locks are keys with a TTL, and every policy except noeviction removes
// keys with a TTL.
finding server_facts::eviction() const {
    const std::string policy{text("maxmemory_policy")};
    if (policy == "noeviction")
        return {severity::fine, "eviction", "maxmemory-policy is noeviction", ""};
    const bool bounded = number("maxmemory") > 0;
    return {bounded ? severity::danger : severity::note, "eviction",
            "maxmemory-policy is " + policy +
                (bounded ? ": a full server drops locks that are held"
                         : ", which matters as soon as there is a maxmemory"),
            "CONFIG SET maxmemory-policy noeviction"};
}

finding server_facts::persistence() const {
    if (text("aof_last_write_status") == "err" || text("rdb_last_bgsave_status") == "err")
        return {severity::danger, "persistence",
                "it could not save its data, and may refuse writes for that (MISCONF)",
                "Its log says why: a full disk, a folder it may not write to, no memory to fork."};
    const bool has_file = number("aof_enabled") == 1;
    if (has_file && around_.fsync != "everysec" && around_.fsync != "no")
        return {severity::fine, "persistence", "locks are in its append-only file", ""};
    if (has_file)
        return {severity::note, "persistence",
                "appendfsync is " + around_.fsync +
                    ": a machine that loses its power may forget the latest locks",
                "Where that is too dangerous: appendfsync always."};
    if (around_.has_replicas)
        return {severity::warning, "persistence",
                "there is no append-only file: a primary that restarts before it is missed is "
                "empty, and empties its replicas",
                "Set appendonly yes on primaries and replicas."};
    return {severity::note, "persistence", "a restart may free all locks, held or not",
            "Where that is too dangerous: appendonly yes, and appendfsync always."};
}

finding server_facts::role() const {
    if (text("role") == "slave")
        return {severity::danger, "topology", "it is a replica, which grants no locks",
                "Use the address of the primary."};
    if (number("connected_slaves") > 0)
        return {severity::note, "topology",
                "it has " + std::string{text("connected_slaves")} +
                    " replica(s): a failover may forget the latest locks",
                "Let the resource refuse old holders where two at once cost money."};
    return {severity::fine, "topology", "it is a primary without replicas", ""};
}

finding server_facts::clients() const {
    const long long connected = number("connected_clients"), most = number("maxclients");
    std::string what =
        std::to_string(connected) + " of " + std::to_string(most) + " clients are connected";
    if (most > 0 && connected >= most - most / 10)
        return {severity::warning, "clients", std::move(what),
                "Raise maxclients, or find out who opens so many (CLIENT LIST)."};
    return {severity::fine, "clients", std::move(what), ""};
}

} // namespace holdfast::redis
