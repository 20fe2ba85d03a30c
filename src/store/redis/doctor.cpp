// SPDX-License-Identifier: Apache-2.0
#include "store/redis/doctor.hpp"

#include "net/endpoint.hpp"
#include "net/failure.hpp"
#include "redis/client/error_replies.hpp"
#include "redis/client/resp.hpp"
#include "store/redis/client_info.hpp"
#include "store/redis/lock_requests.hpp"
#include "store/redis/replies.hpp"
#include "store/redis/scripts.hpp"
#include "store/remote/diagnostics.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <utility>

namespace holdfast::redis {
namespace {

constexpr long long oldest_version = 6;

long long leading_number(std::string_view text) {
    long long value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

/// Returns the advice for a missing permission. `rights` has the syntax of ACL SETUSER.
std::string grant_to_user(const std::string& rights) {
    return "Grant the permission to the user of this client: ACL SETUSER USERNAME " + rights;
}

finding is_replica() {
    return {severity::danger, "topology", "This server is a replica. A replica grants no locks.",
            "Use the address of the primary. This command shows the address as master_host: INFO "
            "replication"};
}

finding has_no_replicas() {
    return {severity::fine, "topology", "This server is a primary without replicas.", ""};
}

} // namespace

server_facts::server_facts(std::string_view info, durability_settings around)
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
    std::string name{valkey.empty() ? "The server is Redis " : "The server is Valkey "};
    name.append(number).append(".");
    if (number.empty())
        name = "The reply to INFO does not contain the version of the server.";
    if (leading_number(number) < oldest_version)
        return {severity::warning, "version", name,
                "holdfast is tested with Redis 6 and later versions. Use one of these versions."};
    return {severity::fine, "version", name, ""};
}

// Returns the finding about the eviction policy and about evicted keys. Locks are keys with a TTL,
// and every policy except noeviction may remove such keys.
finding server_facts::eviction() const {
    const std::string policy{text("maxmemory_policy")};
    const bool bounded = number("maxmemory") > 0;
    finding told{severity::fine, "eviction", "The setting maxmemory-policy is " + policy + ".", ""};
    if (policy != "noeviction") {
        told.how_bad = bounded ? severity::danger : severity::note;
        told.what += bounded ? " When the memory of the server is full, the server can delete the "
                               "keys of held locks."
                             : " The server has no memory limit (maxmemory) now. With a limit, a "
                               "full server could delete the keys of held locks.";
        told.remedy = "Turn eviction off: CONFIG SET maxmemory-policy noeviction";
    }
    if (const long long evicted = number("evicted_keys"); evicted > 0) {
        told.how_bad = std::max(told.how_bad, severity::note);
        told.what += " The server has evicted keys since it started (their number is " +
                     std::to_string(evicted) +
                     "). The keys of held locks and permits may be among them.";
        told.remedy += told.remedy.empty() ? "" : ". ";
        told.remedy += "If permits of a leased semaphore are missing, set their number again: "
                       "set_permits()";
    }
    return told;
}

finding server_facts::persistence() const {
    if (text("aof_last_write_status") == "err" || text("rdb_last_bgsave_status") == "err")
        return {severity::danger, "persistence",
                "The server could not save its data to disk. It may therefore refuse writes (error "
                "MISCONF), and then it grants no locks.",
                "Read the reason in the server's log. Examples are a full disk, a folder without "
                "write permission, and too little memory for fork()."};
    const bool has_file = number("aof_enabled") == 1;
    if (has_file && around_.fsync != "everysec" && around_.fsync != "no")
        return {severity::fine, "persistence", "The server saves locks in its append-only file.",
                ""};
    if (has_file)
        return {severity::note, "persistence",
                "The setting appendfsync is " + around_.fsync +
                    ". If the machine loses its power, the latest locks may be lost.",
                "If this is too dangerous for you, save each write at once: CONFIG SET appendfsync "
                "always"};
    if (around_.has_replicas)
        return {severity::warning, "persistence",
                "The server has no append-only file. If a primary restarts before a failover "
                "begins, it is empty. Its replicas then delete all locks too.",
                "Turn on the append-only file at primaries and replicas: CONFIG SET appendonly "
                "yes, and then CONFIG REWRITE"};
    return {severity::note, "persistence",
            "The server has no append-only file. A restart may free all locks, also held locks.",
            "If this is too dangerous for you: CONFIG SET appendonly yes, CONFIG SET appendfsync "
            "always, and then CONFIG REWRITE"};
}

finding server_facts::role() const {
    if (text("role") == "slave")
        return is_replica();
    if (number("connected_slaves") > 0)
        return {severity::note, "topology",
                "This server has replicas (their number is " +
                    std::string{text("connected_slaves")} +
                    "). A failover may lose the latest locks.",
                "If two holders at the same time would do damage, use fencing tokens. With these "
                "tokens, the resource can refuse the older holder."};
    return has_no_replicas();
}

finding server_facts::clients() const {
    const long long connected = number("connected_clients"), most = number("maxclients");
    std::string what = "The number of connected clients is " + std::to_string(connected) +
                       ". The server accepts at most " + std::to_string(most) + ".";
    if (most > 0 && connected >= most - most / 10)
        return {severity::warning, "clients", std::move(what),
                "Raise the setting maxclients, or find the programs that open many connections: "
                "CLIENT LIST"};
    return {severity::fine, "clients", std::move(what), ""};
}

namespace {

using shape = topology_report::kind;

} // namespace

std::string listed(const std::vector<std::string>& all) {
    constexpr std::size_t most = 12;
    std::string words;
    for (std::size_t i = 0; i < std::min(all.size(), most); ++i)
        words += (i > 0 ? ", " : "") + all[i];
    if (all.size() > most)
        words += " and " + std::to_string(all.size() - most) + " more";
    return words;
}

std::string length_in_words(duration length) {
    constexpr duration second = std::chrono::seconds{1};
    if (length < second)
        return std::to_string(length.count()) + " ms";
    const auto tenths = length.count() / 100;
    return std::to_string(tenths / 10) +
           (tenths % 10 > 0 ? "." + std::to_string(tenths % 10) : "") + " s";
}

std::vector<const server_report*> servers_in(const topology_report& all) {
    std::vector<const server_report*> found;
    const auto add = [&](const server_report& one) {
        if (one.trouble.empty())
            found.push_back(&one);
    };
    for (const shard_report& part : all.shards) {
        add(part.primary);
        for (const server_report& each : part.replicas)
            add(each);
    }
    return found;
}

/// Adds findings about the path to the server. The address in the URL may belong to a proxy. The
/// proxy may send requests to several servers that do not share their data.
void judge_reach(const topology_report& all, std::string_view met_info,
                 std::vector<finding>& found) {
    if (all.shards.empty() || all.what == shape::cluster)
        return;
    const server_report& met = all.shards.front().primary;
    if (all.what == shape::single && info_field(met.info, "cluster_enabled") == "1")
        found.push_back({severity::danger, "reach",
                         "This server is a node of a cluster. With the URL of a single server, "
                         "only names in the slots of this node can be locked.",
                         std::string{"Use the URL of the cluster: "} +
                             (all.over_tls ? "rediss" : "redis") + "+cluster://" + met.address});
    const std::string_view one = info_field(met_info, "run_id"),
                           other = info_field(met.info, "run_id");
    const bool is_another = !one.empty() && !other.empty() && one != other;
    if (met.clock_jumps || is_another)
        found.push_back({severity::note, "reach",
                         is_another ? "Two connections to the same address reached different "
                                      "servers."
                                    : "The server's clock jumped between two replies on one "
                                      "connection.",
                         "A proxy may send the requests to several servers. Your locks then have "
                         "only the guarantees of these servers (docs/topologies.md)."});
}

/// Adds findings about clients that subscribe in the wrong form. A release is published either as a
/// plain message or as a sharded message. A client that subscribes to the other form is not
/// notified, so it waits until the holder's lease ends.
void judge_listeners(const topology_report& all, std::vector<finding>& found) {
    if (all.what != shape::cluster)
        return;
    std::vector<std::string> others, denied;
    for (const server_report* const each : servers_in(all)) {
        const std::optional<bool>& other =
            all.form == telling::plain ? each->shard_listeners : each->plain_listeners;
        if (!other)
            denied.push_back(each->address);
        else if (*other && all.form != telling::both)
            others.push_back(each->address);
    }
    const bool is_plain = all.form == telling::plain;
    found.push_back({severity::fine, "listening",
                     is_plain ? "This client publishes releases as plain messages (PUBLISH)."
                     : all.form == telling::both
                         ? "This client publishes releases as plain and as sharded messages "
                           "(PUBLISH and SPUBLISH)."
                         : "This client publishes releases as sharded messages (SPUBLISH).",
                     ""});
    if (!others.empty())
        found.push_back({severity::warning, "listening",
                         std::string{"Other clients have subscribed to "} +
                             (is_plain ? "sharded" : "plain") + " messages at " + listed(others) +
                             ". This client publishes only " + (is_plain ? "plain" : "sharded") +
                             " messages. The other clients are not notified when this client "
                             "releases a lock.",
                         std::string{is_plain ? "Redisson 3.22 and later versions subscribe to "
                                                "sharded"
                                              : "Versions of Redisson before 3.22 subscribe to "
                                                "plain"} +
                             " messages. Publish both forms with this parameter of the URL: "
                             "pubsub=both"});
    if (!denied.empty() && all.form != telling::both)
        found.push_back({severity::note, "listening",
                         "PUBSUB is denied at " + listed(denied) +
                             ". The doctor could not check whether other clients use another form "
                             "of messages.",
                         grant_to_user("+pubsub|channels +pubsub|shardchannels")});
}

std::vector<finding> judge_topology(const topology_report& all, const lock_needs& needs,
                                    std::string_view met_info) {
    std::vector<finding> found;
    judge_reach(all, met_info, found);
    judge_members(all, found);
    judge_failover(all, needs.lease, found);
    judge_replicas(all, needs.replicas, found);
    judge_clocks(all, needs.lease, found);
    judge_each(all, found);
    judge_listeners(all, found);
    return found;
}

// Findings about all servers together, and about single servers that do not work.

namespace {

std::string shard_in_words(const shard_report& part) {
    std::vector<std::string> replicas;
    for (const server_report& each : part.replicas)
        replicas.push_back(each.address);
    if (replicas.empty())
        return part.primary.address;
    return part.primary.address + " (replicas: " + listed(replicas) + ")";
}

finding shape_of(const topology_report& all) {
    std::vector<std::string> shards;
    for (const shard_report& each : all.shards)
        shards.push_back(shard_in_words(each));
    const std::string members = listed(shards);
    switch (all.what) {
    case shape::sentinels:
        return {severity::fine, "topology",
                "According to the Sentinels, the primary of '" + all.service + "' is " + members +
                    ".",
                ""};
    case shape::cluster:
        return {severity::fine, "topology",
                "The cluster has " + std::to_string(all.shards.size()) + " primaries: " + members +
                    ".",
                ""};
    case shape::single:
    case shape::unknown:
        break;
    }
    if (info_field(all.shards.front().primary.info, "role") == "slave")
        return is_replica();
    if (all.shards.front().replicas.empty())
        return has_no_replicas();
    return {severity::fine, "topology", "This server is the primary " + members + ".", ""};
}

std::optional<finding> finding_of(const sentinel_report& one, const std::string& service,
                                  const std::string& primary) {
    const std::string who = "The Sentinel " + one.address;
    if (!one.trouble.empty())
        return finding{severity::warning, "topology",
                       who + " did not return the address of the primary: " + one.trouble,
                       "Repair this Sentinel. Without a majority of the Sentinels, there is no "
                       "failover. This command must return the address: SENTINEL "
                       "GET-MASTER-ADDR-BY-NAME " +
                           service};
    if (!one.primary)
        return finding{severity::warning, "topology",
                       who + " does not know the service '" + service + "'.",
                       "Let this Sentinel watch the same servers as the other Sentinels: SENTINEL "
                       "MONITOR " +
                           service + " HOST PORT QUORUM"};
    const std::string named = net::address_of(*one.primary);
    if (named == primary)
        return std::nullopt;
    return finding{severity::warning, "topology",
                   who + " names " + named + " as the primary, and not " + primary + ".",
                   "If a failover is in progress, wait until it has ended. Otherwise this Sentinel "
                   "has no connection to the other Sentinels, or it watches other servers. This "
                   "command shows the view of the Sentinel: SENTINEL MASTER " +
                       service};
}

void judge_sentinels(const topology_report& all, std::vector<finding>& found) {
    const std::string primary = all.shards.empty() ? "" : all.shards.front().primary.address;
    for (const sentinel_report& each : all.sentinels)
        if (std::optional<finding> one = finding_of(each, all.service, primary))
            found.push_back(*std::move(one));
}

void judge_slots(const topology_report& all, std::vector<finding>& found) {
    if (all.unserved_slots > 0)
        found.push_back({severity::warning, "topology",
                         std::to_string(all.unserved_slots) +
                             " of 16384 slots have no server. Names in these slots cannot be "
                             "locked.",
                         "Find the missing node with this command: CLUSTER NODES"});
    for (const shard_report& each : all.shards) {
        const server_report& primary = each.primary;
        if (each.replicas.empty())
            found.push_back({severity::warning, "topology",
                             "The primary " + primary.address +
                                 " has no replica. While this primary is down, names in its slots "
                                 "cannot be locked.",
                             "Make another node a replica of this primary: CLUSTER REPLICATE "
                             "NODE-ID"});
        if (primary.open && primary.open->count > 0)
            found.push_back({severity::danger, "topology",
                             "Slots are being moved at " + primary.address + " (their number is " +
                                 std::to_string(primary.open->count) + ", and the first is slot " +
                                 std::to_string(primary.open->first) +
                                 "). In these slots, locks that use several keys are not granted "
                                 "(error TRYAGAIN).",
                             "Complete the resharding. If the resharding has failed, repair the "
                             "cluster: redis-cli --cluster fix " +
                                 primary.address});
        else if (!primary.open && primary.trouble.empty())
            found.push_back({severity::note, "topology",
                             "CLUSTER NODES is denied at " + primary.address +
                                 ". The doctor could not check whether slots are being moved "
                                 "there.",
                             grant_to_user("+cluster|nodes")});
    }
    for (const server_report* const each : servers_in(all))
        if (each->other_view)
            found.push_back({severity::warning, "topology",
                             "The node " + each->address + " names " +
                                 net::address_of(each->other_view->named) + " as the server of " +
                                 std::to_string(each->other_view->slots) +
                                 " slots, but most nodes name another server (the first is slot " +
                                 std::to_string(each->other_view->first) + ").",
                             "If a failover is in progress, wait until it has ended. Otherwise "
                             "this node has no connection to the other nodes. This command "
                             "shows the view of the node: CLUSTER NODES"});
}

void judge_silent(const topology_report& all, std::vector<finding>& found) {
    const auto judge = [&](const server_report& one, const char* what) {
        if (!one.trouble.empty())
            found.push_back(
                {severity::warning, "topology",
                 std::string{what} + one.address + " could not be asked: " + one.trouble,
                 "The doctor could not check the clock and the settings of this server. Run "
                 "the doctor on a machine that can connect to this server, with a user that this "
                 "server knows."});
    };
    for (const shard_report& part : all.shards) {
        judge(part.primary, "The primary ");
        for (const server_report& each : part.replicas)
            judge(each, "The replica ");
    }
}

} // namespace

void judge_members(const topology_report& all, std::vector<finding>& found) {
    const bool is_known = all.what != shape::single || !all.shards.front().primary.info.empty();
    if (is_known)
        found.push_back(shape_of(all));
    judge_silent(all, found);
    if (all.what == shape::sentinels)
        judge_sentinels(all, found);
    if (all.what == shape::cluster)
        judge_slots(all, found);
}

namespace {

/// Finding that several servers share. Its severity, topic and remedy are the same for all of them.
struct shared_finding {
    finding first;
    std::vector<std::string> words;     ///< text of the finding at each server
    std::vector<std::string> addresses; ///< address of each server, in the same order
};

bool is_alike(const finding& one, const finding& other) {
    return one.how_bad == other.how_bad && one.topic == other.topic && one.remedy == other.remedy;
}

/// Returns one finding for all servers that share it. `servers` is the number of examined servers.
/// The text names the servers, unless all examined servers have the finding.
finding said_once(shared_finding&& one, std::size_t servers) {
    if (servers == 1)
        return std::move(one.first);
    const bool same = std::ranges::all_of(
        one.words, [&](const std::string& each) { return each == one.words.front(); });
    finding whole = std::move(one.first);
    if (same && one.addresses.size() == servers) {
        whole.what += servers == 2
                          ? " This finding is about both servers."
                          : " This finding is about all " + std::to_string(servers) + " servers.";
    } else if (same) {
        whole.what += " This finding is about " + listed(one.addresses) + ".";
    } else {
        whole.what += " This finding is about " + one.addresses.front();
        one.addresses.erase(one.addresses.begin());
        whole.what += ". There are similar findings about " + listed(one.addresses) + ".";
    }
    return whole;
}

void add(finding&& one, const std::string& address, std::vector<shared_finding>& to) {
    const auto like = std::ranges::find_if(
        to, [&](const shared_finding& each) { return is_alike(each.first, one); });
    shared_finding& into = like == to.end() ? to.emplace_back() : *like;
    into.words.push_back(one.what);
    into.addresses.push_back(address);
    if (into.words.size() == 1)
        into.first = std::move(one);
}

bool fails_over(const topology_report& all) {
    return all.what != topology_report::kind::single ||
           std::ranges::any_of(all.shards,
                               [](const shard_report& each) { return !each.replicas.empty(); });
}

} // namespace

void judge_each(const topology_report& all, std::vector<finding>& found) {
    std::vector<shared_finding> shared;
    const std::vector<const server_report*> servers = servers_in(all);
    for (const server_report* const each : servers) {
        if (each->info.empty())
            continue;
        const server_facts facts{each->info,
                                 {.has_replicas = fails_over(all), .fsync = each->fsync}};
        for (finding& one : facts.judge())
            add(std::move(one), each->address, shared);
    }
    std::ranges::stable_sort(shared, {}, [](const shared_finding& one) {
        constexpr std::string_view order[] = {"version", "eviction", "persistence", "clients"};
        return std::ranges::find(order, one.first.topic) - std::begin(order);
    });
    for (shared_finding& each : shared)
        found.push_back(said_once(std::move(each), servers.size()));
}

// Findings about the effects of a failover on locks.

namespace {

using std::chrono::microseconds;

/// Returns the longest failover that a held lock survives: 65% of the lease. A third of the lease
/// may have passed since the last renewal when the server fails, and the next renewal takes some
/// time.
constexpr duration outlasted_by(duration lease) {
    return lease / 100 * 65 + lease % 100 * 65 / 100;
}

/// Returns the largest difference between the clocks of two servers that is safe with this lease.
constexpr microseconds clocks_apart_max(duration lease) {
    return lease / 100 + duration{2};
}

/// How long a failover takes, and the setting of the server on which this time depends. `whole` is
/// the measured time from the failure of the server until clients find the new primary
/// (docs/topologies.md).
struct failover_time {
    const char* setting;
    duration set;
    duration whole;
    std::string command; ///< command that sets a shorter timeout
};

std::optional<failover_time> by_sentinels(const topology_report& all) {
    std::optional<duration> longest;
    for (const sentinel_report& each : all.sentinels)
        if (each.service && each.service->down_after)
            longest = std::max(longest.value_or(duration{}), *each.service->down_after);
    if (!longest)
        return std::nullopt;
    constexpr duration more{1500};
    return failover_time{"down-after-milliseconds", *longest, *longest + more,
                         "SENTINEL SET " + all.service + " down-after-milliseconds 5000"};
}

std::optional<failover_time> by_cluster(const topology_report& all) {
    std::optional<duration> longest;
    for (const server_report* const each : servers_in(all))
        if (each->node_timeout)
            longest = std::max(longest.value_or(duration{}), *each->node_timeout);
    if (!longest)
        return std::nullopt;
    constexpr duration more{1200};
    return failover_time{"cluster-node-timeout", *longest, *longest + *longest / 4 + more,
                         "CONFIG SET cluster-node-timeout 5000"};
}

std::string survival_in_words(duration lease) {
    return "A lock with a lease time of " + length_in_words(lease) +
           " survives a failover of at most " + length_in_words(outlasted_by(lease)) + ".";
}

finding not_known(const topology_report& all, duration lease) {
    const bool in_cluster = all.what == shape::cluster;
    return {severity::note, "failover",
            std::string{in_cluster ? "CONFIG GET cluster-node-timeout" : "SENTINEL MASTER"} +
                " is denied. The doctor could not check whether held locks survive a failover. " +
                survival_in_words(lease),
            grant_to_user(in_cluster ? "+config|get" : "+sentinel|master")};
}

finding judge_time(const failover_time& takes, duration lease) {
    const duration outlasts = outlasted_by(lease);
    const std::string whole = "A failover takes about " + length_in_words(takes.whole) + " (" +
                              takes.setting + " is " + length_in_words(takes.set) + "). " +
                              survival_in_words(lease);
    const std::string remedy = "Use a longer lease_time, or set the timeout to 5000 ms or less at "
                               "each server that has this setting: " +
                               takes.command;
    if (takes.set > outlasts)
        return {severity::danger, "failover", "Every held lock is lost in a failover. " + whole,
                remedy};
    if (takes.whole > outlasts)
        return {severity::warning, "failover", "Held locks may be lost in a failover. " + whole,
                remedy};
    return {severity::fine, "failover", whole, ""};
}

/// Smallest and greatest number of online replicas that any primary has. `of` is the primary with
/// the smallest number.
struct replica_count {
    const server_report* of = nullptr;
    std::size_t fewest = 0;
    std::size_t most = 0; ///< greatest number at any primary
};

replica_count count_replicas(const topology_report& all) {
    replica_count found;
    for (const shard_report& each : all.shards) {
        if (each.primary.info.empty())
            continue;
        const std::size_t online = replicas_online_in(each.primary.info);
        if (!found.of || online < found.fewest) {
            found.of = &each.primary;
            found.fewest = online;
        }
        found.most = std::max(found.most, online);
    }
    return found;
}

void judge_count(const replica_count& online, std::size_t required, std::vector<finding>& found) {
    const std::string wanted = std::to_string(required);
    const std::string there = "The primary " + online.of->address + " has " +
                              std::to_string(online.fewest) + " of " + wanted +
                              " required replicas online.";
    if (online.fewest < required)
        found.push_back({severity::danger, "replicas",
                         there + " Therefore no lock is granted or renewed.",
                         "Start the missing replicas again, or lower required_replicas. This "
                         "command shows the replicas: INFO replication"});
    else if (online.fewest == required)
        found.push_back({severity::note, "replicas",
                         there + " If a replica fails, no lock is granted or renewed until the "
                                 "replica is online again.",
                         "You need not change anything if you accept this. A failover has the same "
                         "effect, because it makes a replica the primary."});
    if (online.most > required)
        found.push_back({severity::warning, "replicas",
                         "More replicas are online (" + std::to_string(online.most) +
                             ") than are required (" + wanted +
                             "). A failover may promote a replica that did not confirm a lock. "
                             "This lock is then lost.",
                         "Attach only replicas that can be promoted, and require all of them: "
                         "required_replicas=" +
                             std::to_string(online.most)});
}

void judge_migration(const topology_report& all, std::vector<finding>& found) {
    for (const server_report* const each : servers_in(all))
        if (each->replicas_migrate == true)
            return found.push_back(
                {severity::warning, "replicas",
                 "Replicas may migrate from one primary to another. The required number of "
                 "replicas is then wrong for both primaries.",
                 "Forbid the migration on all nodes: CONFIG SET cluster-allow-replica-migration "
                 "no"});
}

void judge_wait(const topology_report& all, std::size_t required, std::vector<finding>& found) {
    for (const shard_report& part : all.shards) {
        if (part.primary.wait_refusal.empty())
            continue;
        const bool denied = classify(part.primary.wait_refusal) == store_errc::no_permission;
        return found.push_back(
            {required > 0 ? severity::danger : severity::note, "replicas",
             "WAIT is refused at " + part.primary.address + " (" + part.primary.wait_refusal +
                 "). " +
                 (required > 0 ? "Therefore no lock is granted."
                               : "Therefore required_replicas cannot be used here."),
             denied ? grant_to_user("+wait") : ""});
    }
}

/// Returns the least possible difference between two clocks. Each reading gives only bounds for a
/// clock.
microseconds apart(const clock_reading& one, const clock_reading& other) {
    return std::max({microseconds::zero(), one.least - other.most, other.least - one.most});
}

} // namespace

void judge_failover(const topology_report& all, duration lease, std::vector<finding>& found) {
    if (all.what != shape::cluster && all.what != shape::sentinels)
        return;
    const auto takes = all.what == shape::cluster ? by_cluster(all) : by_sentinels(all);
    found.push_back(takes ? judge_time(*takes, lease) : not_known(all, lease));
}

void judge_replicas(const topology_report& all, std::size_t required, std::vector<finding>& found) {
    const replica_count online = count_replicas(all);
    const bool any = online.most > 0;
    if (required > 0 && online.of)
        judge_count(online, required, found);
    if (required > 0)
        judge_migration(all, found);
    else if (any)
        found.push_back({severity::note, "replicas",
                         "There are replicas, but no replica is required to confirm a lock. A "
                         "failover may lose the latest locks.",
                         "If two holders at the same time would do damage, use fencing tokens, or "
                         "set required_replicas (docs/topologies.md)."});
    if (required > 0 || any)
        judge_wait(all, required, found);
}

void judge_clocks(const topology_report& all, duration lease, std::vector<finding>& found) {
    const microseconds most = clocks_apart_max(lease);
    bool compared = false;
    for (const shard_report& part : all.shards) {
        for (const server_report& each : part.replicas) {
            if (!part.primary.clock || !each.clock)
                continue;
            compared = true;
            const microseconds found_apart = apart(*part.primary.clock, *each.clock);
            if (found_apart <= most)
                continue;
            const bool ahead = each.clock->least > part.primary.clock->most;
            found.push_back(
                {severity::warning, "clocks",
                 "The clock of the replica " + each.address + " is " +
                     length_in_words(std::chrono::floor<duration>(found_apart)) +
                     (ahead ? " ahead of" : " behind") + " the clock of its primary " +
                     part.primary.address + ". After a failover to this replica, leases end " +
                     (ahead ? "too early, so two clients can hold a lock." : "too late."),
                 "Let NTP correct the clocks of all servers slowly, without steps. With "
                 "this lease time, the clocks may differ by at most " +
                     length_in_words(std::chrono::floor<duration>(most)) + "."});
        }
    }
    const auto is_warned = [](const finding& each) { return each.topic == "clocks"; };
    if (compared && std::ranges::none_of(found, is_warned))
        found.push_back({severity::fine, "clocks",
                         "The clocks of primaries and replicas agree within " +
                             length_in_words(std::chrono::floor<duration>(most)) + ".",
                         ""});
}

namespace {

finding trouble(const char* topic, const boost::system::system_error& why) {
    return {severity::danger, topic, net::story_of(why), why.code().message()};
}

/// Returns the lease time of the doctor's trial lock. The time is enough to take the lock, to
/// subscribe and to renew. It is short, so that the lock ends soon if its release fails.
duration trial_lease(const node& server, duration lease_time) {
    return std::min(lease_time, 3 * server.command_timeout() + confirmation_timeout);
}

/// Maximum number of attempts to release the trial lock.
constexpr int releases_max = 3;

/// Returns whether the error proves that the doctor does not hold the trial lock.
bool did_nothing(const error_code& why) {
    return why == errc::unreachable || why == errc::refused || why == errc::closed ||
           why == errc::overloaded;
}

/// Returns whether a retry would get the same error.
bool is_final(const error_code& why) {
    return why == errc::refused || why == errc::closed;
}

class examination {
public:
    examination(node& server, const store_context& context, ask trial)
        : server_{server}
        , context_{context}
        , lease_time_{trial.lease_time}
        , trial_{std::move(trial)}
        , how_{*verbs_of(trial_.kind)} {
        trial_.lease_time = trial_lease(server, lease_time_);
    }

    asio::awaitable<std::vector<finding>> run() {
        if (const bool reached = co_await look_at_server(); !reached)
            co_return std::move(found_);
        co_await look_around();
        const bool taken = co_await take_lock();
        if (taken) {
            co_await listen();
            co_await renew();
        }
        if (may_hold_)
            co_await release();
        if (taken)
            co_await say_who();
        co_return std::move(found_);
    }

private:
    void add(severity how_bad, const char* topic, std::string what, std::string remedy = {}) {
        found_.push_back({how_bad, topic, std::move(what), std::move(remedy)});
    }

    asio::awaitable<bool> look_at_server() {
        const std::string_view keys[] = {trial_.name.text};
        try {
            const reply said = co_await server_.call(scripts::examine_server, keys, {});
            const duration took = said.received_at - said.sent_at;
            found_.push_back(remote::judge_delay(took, lease_time_));
            info_ = said.text;
            co_return true;
        } catch (const boost::system::system_error& why) {
            if (why.code() != store_errc::no_permission ||
                net::story_of(why).find("+info") == std::string::npos) {
                found_.push_back(trouble("reach", why));
                co_return false;
            }
            add(severity::warning, "rights",
                "INFO is denied. The doctor could not check the version, the eviction, the "
                "persistence, the replicas and the clients.",
                grant_to_user("+info"));
            co_return true;
        }
    }

    /// Examines all servers of the topology. If the topology cannot be read, examines only the INFO
    /// reply of this server.
    asio::awaitable<void> look_around() {
        topology_report all;
        try {
            all = co_await server_.survey();
        } catch (const boost::system::system_error& why) {
            add(severity::warning, "topology",
                "The topology could not be examined: " + net::story_of(why), why.code().message());
        }
        std::vector<finding> seen;
        if (all.what != topology_report::kind::unknown) {
            seen = judge_topology(all, {lease_time_, trial_.replicas}, info_);
        } else if (!info_.empty()) {
            const server_facts facts{info_};
            seen = facts.judge();
            seen.push_back(facts.role());
        }
        std::ranges::move(seen, std::back_inserter(found_));
    }

    asio::awaitable<bool> take_lock() {
        try {
            const server_deadline limit{context_.time.now() + server_.command_timeout()};
            may_hold_ = true;
            attempt got = co_await how_.take(server_, trial_, limit);
            judge_clock(got);
            may_hold_ = got.said == verdict::granted;
            if (may_hold_)
                judge_confirmed(got);
            if (may_hold_)
                co_return true;
            found_.push_back(remote::trial_lock_is_held(trial_.name));
        } catch (const boost::system::system_error& why) {
            may_hold_ = !did_nothing(why.code());
            found_.push_back(trouble("rights", why));
        }
        co_return false;
    }

    /// Adds a finding if too few replicas confirmed the trial lock. After that, the later steps of
    /// the test require no confirmation, so that they can still run.
    void judge_confirmed(attempt& got) {
        if (judge_confirmation(got, trial_.replicas) == confirmation::enough)
            return;
        add(severity::danger, "replicas", "No lock is granted: " + got.unconfirmed + ".",
            "Find out which replicas are connected, and how far they are behind: INFO replication");
        trial_.replicas = 0;
    }

    void judge_clock(const attempt& got) {
        if (got.server_now == got.server_now.zero())
            return add(severity::warning, "clock", late_without_time + std::string{"."},
                       grant_to_user("+time"));
        found_.push_back(remote::judge_clock(got.server_now));
    }

    asio::awaitable<void> listen() {
        const std::unique_ptr<alarm> wake = context_.time.make_alarm();
        const channel_name channel = how_.told_on(trial_);
        const std::unique_ptr<hearing> subscriber = server_.hear(channel, *wake);
        const time_point give_up_at = context_.time.now() + confirmation_timeout;
        const bool is_heard = co_await subscriber->confirmed(give_up_at);
        if (is_heard)
            co_return add(severity::fine, "listening",
                          "This client can subscribe to notifications of releases.");
        add(severity::warning, "listening",
            "This client cannot subscribe to notifications of releases. Waiting clients find a "
            "free lock only when they ask again.",
            "The observer gets the server's error. " +
                grant_to_user("+subscribe &" + channel.text));
    }

    asio::awaitable<void> renew() {
        const hold* const held[] = {&trial_};
        const renewal_options how{.lease_time = trial_.lease_time};
        single_renewal renewed;
        co_await renew_holds(server_, context_.executor, held, how, renewed);
        try {
            renewed_ = renewed.said().granted;
            if (!renewed_)
                found_.push_back(remote::trial_lock_was_lost(
                    "Find out what has deleted the key of the lock: an eviction, FLUSHALL, or "
                    "another program."));
        } catch (const boost::system::system_error& why) {
            found_.push_back(trouble("rights", why));
        }
    }

    /// Releases the trial lock, even if an earlier step failed. Repeats the request while the
    /// client does not know whether the lock was released.
    asio::awaitable<void> release() {
        for (int left = releases_max; left > 0; --left) {
            try {
                judge_release(co_await how_.release(server_, trial_));
                co_return;
            } catch (const boost::system::system_error& why) {
                if (left > 1 && !is_final(why.code()))
                    continue;
                found_.push_back(trouble("rights", why));
                co_return;
            }
        }
    }

    void judge_release(const released& outcome) {
        if (outcome.denied_message)
            add(severity::warning, "rights",
                std::string{server_.telling_commands().command} + " is denied. " +
                    no_wake_without_publish + ".",
                grant_to_user(rights_to_tell(server_.telling_commands(), how_.told_on(trial_))));
        else if (renewed_)
            found_.push_back(remote::trial_went_well(trial_.name));
    }

    // Tests whether this client may write and delete a description of itself. Uses a separate key,
    // because the client may write its real key at the same time.
    asio::awaitable<void> say_who() {
        if (!context_.announce)
            co_return;
        const std::string key = client_key(context_.client) + ":doctor";
        try {
            client_report report{.info = remote::client_info_of(context_),
                                 .now = context_.time.now(),
                                 .name_in_index =
                                     to_string(owner_id{context_.client, 0}) + "doctor"};
            report.activity.holds.push_back({.name = trial_.name.text,
                                             .kind = trial_.kind,
                                             .number = 0,
                                             .since = report.now,
                                             .renewed = false});
            report.activity.holds_total = 1;
            const std::string refusal =
                co_await announce_client(server_, key, report, trial_.lease_time);
            report.activity = {};
            co_await announce_client(server_, key, report, duration::zero());
            add(severity::fine, "identity",
                "Clients can store a description of themselves, which shows who holds a lock.");
            if (!refusal.empty())
                add(severity::note, "identity",
                    "Clients cannot write their names into the list of clients that hold or wait "
                    "for locks, so holdfast top does not show their locks: " +
                        refusal,
                    "ACL SETUSER USERNAME +time +zadd +zrem +zremrangebyscore +zrevrangebyscore "
                    "+pttl +pexpire ~holdfast_clients");
        } catch (const boost::system::system_error& why) {
            add(severity::note, "identity",
                "Clients cannot store a description of themselves, so nobody can see which client "
                "holds a lock: " +
                    net::story_of(why),
                "If you do not need the descriptions, set options::announce to false. Otherwise: "
                "ACL SETUSER USERNAME +set +del ~holdfast_client:*");
        }
    }

    node& server_;
    const store_context& context_;
    const duration lease_time_;
    ask trial_;
    const verbs& how_;
    std::string info_;
    bool may_hold_ = false;
    bool renewed_ = false;
    std::vector<finding> found_;
};

} // namespace

asio::awaitable<std::vector<finding>> examine_server(node& server, const store_context& context,
                                                     ask trial) {
    examination all{server, context, std::move(trial)};
    co_return co_await all.run();
}

} // namespace holdfast::redis
