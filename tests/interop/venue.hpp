// SPDX-License-Identifier: Apache-2.0
// Where a JVM and ours meet: at one server, or at several that belong together. It takes seconds to
// make these, so the tests of this program share a cluster and a Sentinel set of each kind of
// server, which are restored before each test.
#pragma once

#include "interop/remote.hpp"
#include "support/redis_cluster.hpp"
#include "support/redis_sentinels.hpp"

#include <memory>
#include <string>
#include <vector>

namespace holdfast::interop {

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

} // namespace holdfast::interop
