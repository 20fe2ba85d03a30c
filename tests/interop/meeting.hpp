// SPDX-License-Identifier: Apache-2.0
// Fixture with two clients, one of a JVM and one of holdfast, at one server or at a group of
// servers. Each test is written once and runs with both assignments of the roles.
//
//     class Waking : public meeting {};
//     HOLDFAST_BOTH_WAYS(Waking);
//     TEST_P(Waking, …) { first().thread("a").lock("L").lock(); … second() … }
#pragma once

#include "interop/remote.hpp"
#include "support/redis_cluster.hpp"
#include "support/redis_replicas.hpp"
#include "support/redis_server.hpp"

#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

namespace holdfast::interop {

// Servers that a JVM and holdfast use together: one server, or a group of servers. To start a group
// takes seconds, so the tests of this program share one cluster and one Sentinel set for each
// server program. Both are restored before each test.

enum class topology { one_server, cluster, sentinels };

/// How a primary ceases to be one.
enum class fall {
    killed,  ///< what no replica has is lost
    ordered, ///< by CLUSTER FAILOVER, where nothing is lost, or by SENTINEL FAILOVER
};

class venue {
public:
    venue() = default;
    venue(const venue&) = delete;
    virtual ~venue() = default;

    /// Who has that name's keys by now.
    virtual support::redis_server& keeper_of(const std::string& name) = 0;
    virtual std::vector<support::redis_server*> replicas_of(const std::string& name) = 0;

    /// How clients get there.
    virtual address where() = 0;

    /// Returns when another server is the keeper.
    virtual void replace_keeper_of(const std::string& name, fall) = 0;

    /// Returns when all replicas have what the name's keeper has written.
    void replicate(const std::string& name);
};

/// Throws `support::server_unavailable`.
std::unique_ptr<venue> make_venue(topology, const support::server_binary&);

/// Those that tests share, as they are.
support::redis_cluster& shared_cluster(const support::server_binary&);
support::redis_sentinels& shared_sentinels(const support::server_binary&);

address address_of(support::redis_cluster&);
address address_of(support::redis_sentinels&);

/// What JVMs are told of several servers, as setters of their configuration: to look often who is
/// the primary, and to begin with few connections. Nothing of one server.
json::object settings_for_jvms(topology);

using namespace std::chrono_literals;
using support::eventually;
using support::soon;

enum class roles { jvm_first, ours_first };

struct setting {
    std::string redisson; ///< empty: there is no JVM to meet
    support::server_binary server;
    roles who = roles::jvm_first;
    std::string getter = "getLock"; ///< of Redisson's client: what kind of lock they meet at
    topology where = topology::one_server;
    std::string pubsub{}; ///< how ours tell releases in a cluster; empty: as fits that version
};
void PrintTo(const setting&, std::ostream*);

std::vector<setting> both_ways(); ///< each version on each server, in either role
std::vector<setting> one_way();   ///< for what is the same in both

/// Each version on one server, the kinds of servers in turn: for tests that wait for leases. What
/// ends by its time does so in the same way on all of them.
std::vector<setting> one_way_in_turn();
std::vector<setting> both_ways_in_turn(const std::vector<std::string>& getters);

/// Each version that is met only once, on one server: those that tell releases where we listen, and
/// the older ones, whose channels have other names.
std::vector<setting> both_ways_once();
std::vector<setting> both_ways_with_elders();

/// At each lock that one of these getters makes in versions that have it.
std::vector<setting> one_way_at(const std::vector<std::string>& getters);
std::vector<setting> both_ways_at(const std::vector<std::string>& getters);

/// At several servers that belong together: each version that has such a lock, on one kind of
/// server.
std::vector<setting> one_way_in(topology, const std::vector<std::string>& getters = {"getLock"});
/// In a cluster where ours tell in that way, whatever the version is.
std::vector<setting> one_way_in_cluster(const std::string& pubsub);

/// Returns whether the version of Redisson is 3.46.0 or later.
bool is_at_least(const std::string& version, int major, int minor);

/// How leased permits and draws of a rate limiter are written there, as the URL's `redisson=` says
/// it (docs/protocol/permits.md, rate.md); nothing from 3.17 on, which ours write by themselves.
std::optional<std::string> form_of(const std::string& version);

std::string name_of(const ::testing::TestParamInfo<setting>&);

class meeting : public ::testing::TestWithParam<setting> {
protected:
    void SetUp() override;

    support::redis_server& server() { return keeper_of("L"); }
    support::redis_server& keeper_of(const std::string& name) { return venue_->keeper_of(name); }
    venue& servers() { return *venue_; }

    /// How the clients shall be, for those who want it otherwise; before they are first used.
    void have_clients(client_settings how) { how_ = std::move(how); }

    remote_client& jvm();
    remote_client& ours();
    remote_client& first() { return jvm_is_first() ? jvm() : ours(); }
    remote_client& second() { return jvm_is_first() ? ours() : jvm(); }

    /// Further clients: of the same processes, and of new ones, which may be killed.
    std::unique_ptr<remote_client> another(bool is_jvm);
    std::unique_ptr<peer> new_process(bool of_jvm);
    std::unique_ptr<remote_client> client_of(peer&, bool is_jvm);

    bool jvm_is_first() const { return GetParam().who == roles::jvm_first; }

    /// Who listens for that lock's releases. In a cluster, whoever does so in both ways counts
    /// twice.
    std::size_t waiters(const std::string& name);
    std::size_t listeners_at(const std::string& channel, const std::string& name = "L");

    /// Begins to lock "L". Returns when the lock's client has asked since it listens, as others may
    /// do already, and its thread sleeps.
    ongoing parked(remote_client& whose, remote_lock lock, bool others_listen = false);

    /// Kills that process. When the lease of its lock ends, by the server's clock; if it has ended
    /// by now, which can be on a busy machine, a moment that is not after that.
    std::chrono::microseconds end_after_death(peer& doomed, const std::string& name);

    /// Whether the client's hold stays on the server for so long, by the server's clock.
    bool keeps(const remote_client& holder, const std::string& name, duration length);

private:
    client_settings how_;
    std::unique_ptr<venue> venue_;
    std::unique_ptr<peer> our_process_;
    std::unique_ptr<remote_client> jvm_, ours_;
};

} // namespace holdfast::interop

#define HOLDFAST_BOTH_WAYS(suite)                                                                  \
    INSTANTIATE_TEST_SUITE_P(Redisson, suite,                                                      \
                             ::testing::ValuesIn(::holdfast::interop::both_ways()),                \
                             ::holdfast::interop::name_of)
#define HOLDFAST_BOTH_WAYS_IN_TURN(suite, ...)                                                     \
    INSTANTIATE_TEST_SUITE_P(                                                                      \
        Redisson, suite,                                                                           \
        ::testing::ValuesIn(::holdfast::interop::both_ways_in_turn({__VA_ARGS__})),                \
        ::holdfast::interop::name_of)
#define HOLDFAST_BOTH_WAYS_ONCE(suite)                                                             \
    INSTANTIATE_TEST_SUITE_P(Once, suite,                                                          \
                             ::testing::ValuesIn(::holdfast::interop::both_ways_once()),           \
                             ::holdfast::interop::name_of)
#define HOLDFAST_BOTH_WAYS_AT(suite, ...)                                                          \
    INSTANTIATE_TEST_SUITE_P(                                                                      \
        Redisson, suite, ::testing::ValuesIn(::holdfast::interop::both_ways_at({__VA_ARGS__})),    \
        ::holdfast::interop::name_of)
/// In a cluster and in a Sentinel set, at each lock that one of the getters makes.
#define HOLDFAST_IN_TOPOLOGIES(suite, ...)                                                         \
    INSTANTIATE_TEST_SUITE_P(Cluster, suite,                                                       \
                             ::testing::ValuesIn(::holdfast::interop::one_way_in(                  \
                                 ::holdfast::interop::topology::cluster, {__VA_ARGS__})),          \
                             ::holdfast::interop::name_of);                                        \
    INSTANTIATE_TEST_SUITE_P(Sentinels, suite,                                                     \
                             ::testing::ValuesIn(::holdfast::interop::one_way_in(                  \
                                 ::holdfast::interop::topology::sentinels, {__VA_ARGS__})),        \
                             ::holdfast::interop::name_of)
#define HOLDFAST_ONE_WAY(suite)                                                                    \
    INSTANTIATE_TEST_SUITE_P(Redisson, suite, ::testing::ValuesIn(::holdfast::interop::one_way()), \
                             ::holdfast::interop::name_of)
