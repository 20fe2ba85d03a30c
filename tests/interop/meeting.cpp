// SPDX-License-Identifier: Apache-2.0
#include "interop/meeting.hpp"

#include "interop/peer.hpp"
#include "interop/server_state.hpp"
#include "support/eventually.hpp"
#include "support/on_each_server.hpp"

#include <algorithm>
#include <cctype>
#include <functional>
#include <map>
#include <sstream>

namespace holdfast::interop {
namespace {

using support::redis_cluster;
using support::redis_sentinels;
using support::redis_server;

class one_server : public venue {
public:
    explicit one_server(const support::server_binary& which)
        : server_{which, {.tcp = true}} {}

    redis_server& keeper_of(const std::string&) override { return server_; }
    std::vector<redis_server*> replicas_of(const std::string&) override { return {}; }
    address where() override { return server_.url(); }
    void replace_keeper_of(const std::string&, fall) override {
        throw std::logic_error{"there is no other server"};
    }

private:
    redis_server server_;
};

class at_cluster : public venue {
public:
    explicit at_cluster(redis_cluster& all)
        : all_{all} {}

    redis_server& keeper_of(const std::string& name) override { return all_.node_of(name); }
    std::vector<redis_server*> replicas_of(const std::string& name) override {
        return {&all_.replica_of(keeper_of(name))};
    }
    address where() override { return address_of(all_); }
    void replace_keeper_of(const std::string& name, fall how) override {
        redis_server& old = keeper_of(name);
        if (how == fall::ordered)
            return all_.failover(all_.replica_of(old));
        old.stop();
        support::until("another has its slots", [&] { return &keeper_of(name) != &old; });
    }

private:
    redis_cluster& all_;
};

class at_sentinels : public venue {
public:
    explicit at_sentinels(redis_sentinels& all)
        : all_{all} {}

    redis_server& keeper_of(const std::string&) override { return all_.primary(); }
    std::vector<redis_server*> replicas_of(const std::string& name) override {
        std::vector<redis_server*> others = all_.servers().servers().up();
        std::erase(others, &keeper_of(name));
        return others;
    }
    address where() override { return address_of(all_); }
    void replace_keeper_of(const std::string& name, fall how) override {
        if (how == fall::ordered)
            return all_.failover();
        redis_server& old = keeper_of(name);
        old.stop();
        support::until("the Sentinels name another", [&] { return &keeper_of(name) != &old; });
    }

private:
    redis_sentinels& all_;
};

/// So slow to miss a server that a busy machine is no reason to.
constexpr duration until_missed{1'000};

std::unique_ptr<redis_cluster>& kept_cluster(const support::server_binary& which) {
    static std::map<std::string, std::unique_ptr<redis_cluster>> all;
    return all[which.label];
}
std::unique_ptr<redis_sentinels>& kept_sentinels(const support::server_binary& which) {
    static std::map<std::string, std::unique_ptr<redis_sentinels>> all;
    return all[which.label];
}

const std::string this_machine = "127.0.0.1:";

} // namespace

void venue::replicate(const std::string& name) {
    const long long offset = support::offset_of(keeper_of(name));
    for (redis_server* each : replicas_of(name))
        support::until("a replica has it", [&] { return support::is_in_sync(*each, offset); });
}

/// Tests at one server come before those that share several, and behind them.
std::unique_ptr<venue> make_venue(topology what, const support::server_binary& which) {
    if (what == topology::one_server) {
        kept_cluster(which).reset();
        kept_sentinels(which).reset();
        return std::make_unique<one_server>(which);
    }
    if (what == topology::cluster)
        return std::make_unique<at_cluster>(
            support::restored_or_new(kept_cluster(which), which, {.node_timeout = until_missed}));
    return std::make_unique<at_sentinels>(
        support::restored_or_new(kept_sentinels(which), which, {.down_after = until_missed}));
}

redis_cluster& shared_cluster(const support::server_binary& which) {
    return *kept_cluster(which);
}

redis_sentinels& shared_sentinels(const support::server_binary& which) {
    return *kept_sentinels(which);
}

address address_of(redis_cluster& all) {
    address made;
    for (std::size_t i = 0; i < all.size(); ++i)
        made.nodes.push_back(this_machine + std::to_string(all.port_of(all.node(i))));
    return made;
}

address address_of(redis_sentinels& all) {
    address made;
    made.service = redis_sentinels::service;
    const redis::options how = all.client_options();
    for (const auto& each : how.sentinel->addresses)
        made.nodes.push_back(this_machine + std::to_string(each.port));
    return made;
}

json::object settings_for_jvms(topology what) {
    if (what == topology::one_server)
        return {};
    return {{"scanInterval", 500},
            {"masterConnectionMinimumIdleSize", 2},
            {"slaveConnectionMinimumIdleSize", 1},
            {"subscriptionConnectionMinimumIdleSize", 1}};
}

namespace {

/// What Redisson calls it: most of its locks are RLocks.
std::string primitive_of(const std::string& getter) {
    if (getter == "getLock")
        return "RLock";
    if (getter == "getReadWriteLock")
        return "RReadWriteLock";
    if (getter == "getSemaphore")
        return "RSemaphore";
    if (getter == "getCountDownLatch")
        return "RCountDownLatch";
    if (getter == "getPermitExpirableSemaphore")
        return "RPermitExpirableSemaphore";
    if (getter == "getRateLimiter")
        return "RRateLimiter";
    return getter == "getFencedLock" ? "RFencedLock" : "RLock of " + getter;
}

/// On one server, in either role.
std::vector<setting> once(const auto& which) {
    std::vector<setting> all;
    for (const std::string& version : redisson_versions_met_once())
        if (which(version))
            for (const roles who : {roles::jvm_first, roles::ours_first})
                all.push_back({version, support::servers().front(), who});
    return all;
}

std::vector<setting> in_either_role(const std::vector<setting>& of) {
    std::vector<setting> all;
    for (setting each : of)
        for (const roles who : {roles::jvm_first, roles::ours_first}) {
            each.who = who;
            all.push_back(each);
        }
    return all;
}

/// In docs/compatibility.md.
std::string column_of(const setting& what) {
    if (what.where == topology::one_server)
        return what.server.label;
    return what.server.label + (what.where == topology::cluster ? ", cluster" : ", Sentinel");
}

/// Where a test does not say it: the default, but for a JVM that knows no sharded channels.
std::optional<std::string> pubsub_of(const setting& what) {
    if (what.where != topology::cluster)
        return {};
    if (!what.pubsub.empty())
        return what.pubsub;
    return is_at_least(what.redisson, 3, 22) ? std::nullopt : std::optional<std::string>{"plain"};
}

bool tells_where_we_listen(const std::string& version) {
    return is_at_least(version, 3, 13);
}

std::vector<setting> at(const std::vector<std::string>& getters, const std::vector<setting>& of) {
    static const std::map<std::string, std::pair<int, int>> since{
        {"getLock", {3, 13}},
        {"getFairLock", {3, 13}},
        {"getReadWriteLock", {3, 13}},
        {"getSemaphore", {3, 13}},
        {"getCountDownLatch", {3, 13}},
        {"getPermitExpirableSemaphore", {3, 13}},
        {"getRateLimiter", {3, 13}},
        {"getSpinLock", {3, 15}},
        {"getFencedLock", {3, 19}},
        {"getNonReentrantLock", {4, 4}},
        {"getNonReentrantFairLock", {4, 4}}};
    std::vector<setting> all;
    for (setting each : of)
        for (const std::string& getter : getters) {
            const auto [major, minor] = since.at(getter);
            each.getter = getter;
            if (each.redisson.empty() || is_at_least(each.redisson, major, minor))
                all.push_back(each);
        }
    return all;
}

} // namespace

void PrintTo(const setting& what, std::ostream* out) {
    *out << "Redisson " << what.redisson << " on " << column_of(what) << ", " << what.getter
         << (what.pubsub.empty() ? "" : ", ") << what.pubsub << ", "
         << (what.who == roles::jvm_first ? "the JVM first" : "ours first");
}

std::vector<setting> one_way() {
    std::vector<setting> all;
    for (const std::string& version : redisson_versions())
        for (const support::server_binary& server : support::servers())
            all.push_back({version, server});
    if (all.empty())
        all.push_back({}); // which skips its tests with the reason
    return all;
}

std::vector<setting> both_ways() {
    return in_either_role(one_way());
}

std::vector<setting> one_way_in_turn() {
    const std::vector<support::server_binary> kinds = support::servers();
    std::vector<setting> all;
    for (const std::string& version : redisson_versions())
        all.push_back({version, kinds.at(all.size() % kinds.size())});
    if (all.empty())
        all.push_back({}); // as above
    return all;
}

std::vector<setting> both_ways_in_turn(const std::vector<std::string>& getters) {
    return at(getters, in_either_role(one_way_in_turn()));
}

std::vector<setting> both_ways_once() {
    return once(tells_where_we_listen);
}

std::vector<setting> both_ways_with_elders() {
    std::vector<setting> all = once(std::not_fn(tells_where_we_listen));
    if (all.empty())
        all.push_back({});
    return all;
}

std::vector<setting> one_way_at(const std::vector<std::string>& getters) {
    return at(getters, one_way());
}

std::vector<setting> both_ways_at(const std::vector<std::string>& getters) {
    return at(getters, both_ways());
}

/// One kind of server for each is enough: what servers do is tried in tests/cluster,
/// tests/sentinel.
std::vector<setting> one_way_in(topology where, const std::vector<std::string>& getters) {
    const std::vector<support::server_binary> kinds = support::servers();
    std::vector<setting> all = one_way();
    for (setting& each : all) {
        each.server = where == topology::cluster ? kinds.front() : kinds.back();
        each.where = where;
    }
    const auto same = std::ranges::unique(all, {}, &setting::redisson);
    all.erase(same.begin(), same.end());
    return at(getters, all);
}

std::vector<setting> one_way_in_cluster(const std::string& pubsub) {
    std::vector<setting> all = one_way_in(topology::cluster);
    for (setting& each : all)
        each.pubsub = pubsub;
    return all;
}

bool is_at_least(const std::string& version, int major, int minor) {
    std::istringstream text{version};
    std::pair<int, int> found;
    char point = '.';
    text >> found.first >> point >> found.second;
    return found >= std::pair{major, minor};
}

std::optional<std::string> form_of(const std::string& version) {
    if (is_at_least(version, 3, 17))
        return {};
    return is_at_least(version, 3, 16) ? "3.16" : "3.13";
}

std::string name_of(const ::testing::TestParamInfo<setting>& info) {
    const setting& what = info.param;
    std::string name = "redisson_" + what.redisson + "_on_" + what.server.label +
                       (what.who == roles::jvm_first ? "_jvm_first" : "_ours_first");
    if (what.getter != "getLock")
        name = what.getter + "_" + name;
    if (!what.pubsub.empty())
        name = what.pubsub + "_" + name;
    for (char& letter : name)
        if (std::isalnum(static_cast<unsigned char>(letter)) == 0)
            letter = '_';
    return name;
}

void meeting::SetUp() {
    if (GetParam().redisson.empty())
        return miss_redisson();
    RecordProperty("primitive", primitive_of(GetParam().getter));
    RecordProperty("redisson", GetParam().redisson);
    RecordProperty("server", column_of(GetParam()));
    try {
        venue_ = make_venue(GetParam().where, GetParam().server);
    } catch (const support::server_unavailable& why) {
        if (support::servers_are_required())
            FAIL() << why.what();
        GTEST_SKIP() << why.what();
    }
}

std::unique_ptr<remote_client> meeting::client_of(peer& process, bool is_jvm) {
    client_settings how = how_;
    if (!how.pubsub)
        how.pubsub = pubsub_of(GetParam());
    for (const auto& [setter, value] : settings_for_jvms(GetParam().where))
        how.redisson_server.emplace(setter, value);
    return std::make_unique<remote_client>(process, is_jvm, venue_->where(), how);
}

std::unique_ptr<peer> meeting::new_process(bool of_jvm) {
    return of_jvm ? start_jvm(GetParam().redisson) : start_ours();
}

remote_client& meeting::jvm() {
    if (!jvm_)
        jvm_ = another(true);
    return *jvm_;
}

remote_client& meeting::ours() {
    if (!ours_)
        ours_ = another(false);
    return *ours_;
}

std::unique_ptr<remote_client> meeting::another(bool is_jvm) {
    if (is_jvm)
        return client_of(shared_jvm(GetParam().redisson), true);
    if (!our_process_)
        our_process_ = start_ours();
    return client_of(*our_process_, false);
}

bool meeting::keeps(const remote_client& holder, const std::string& name, duration length) {
    support::redis_server& keeper = keeper_of(name);
    const auto end = time_of(keeper) + length;
    bool lost = false;
    const bool ended = eventually([&] {
        const auto state = state_of(keeper);
        const auto lock = state.find(name);
        lost = lock == state.end() || !lock->second.fields.begin()->first.starts_with(holder.id());
        return lost || time_of(keeper) > end;
    });
    return ended && !lost;
}

std::chrono::microseconds meeting::end_after_death(peer& doomed, const std::string& name) {
    support::redis_server& keeper = keeper_of(name);
    const auto end = [&]() -> std::chrono::microseconds {
        return duration{keeper.command({"PEXPIRETIME", name}).integer};
    };
    const auto holder = [&] { return state_of(keeper)[name].fields; };
    const auto of_the_doomed = holder();
    const auto before = end();
    doomed.kill();
    const auto after = end();
    return holder() == of_the_doomed ? after : before;
}

std::size_t meeting::waiters(const std::string& name) {
    return listeners_at(channel_of(name), name);
}

std::size_t meeting::listeners_at(const std::string& channel, const std::string& name) {
    std::int64_t all = 0;
    for (const char* how : {"NUMSUB", "SHARDNUMSUB"})
        all += keeper_of(name).command({"PUBSUB", how, channel}).items.at(1).integer;
    return static_cast<std::size_t>(all);
}

ongoing meeting::parked(remote_client& whose, remote_lock lock, bool others_listen) {
    transcript seen{server().socket_path()};
    ongoing call = lock.begin_lock();
    EXPECT_TRUE(eventually([&] {
        const std::vector<entry>& all = seen.all();
        const auto from =
            others_listen ? all.begin() : std::ranges::find_if(all, &entry::is_listening);
        const bool asks = std::any_of(from, all.end(), [&](const entry& each) {
            return each.is_script() && each.mentions(whose.id());
        });
        return asks && lock.is_asleep();
    }));
    return call;
}

} // namespace holdfast::interop
