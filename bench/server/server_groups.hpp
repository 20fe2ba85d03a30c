// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/server/site.hpp"
#include "support/redis_cluster.hpp"
#include "support/redis_replicas.hpp"
#include "support/redis_sentinels.hpp"
#include "support/zookeeper_server.hpp"

#include <concepts>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::bench {

/// Single server of another store than Redis.
class lone_server {
public:
    virtual ~lone_server() = default;
    virtual double cpu_seconds() const = 0;
    virtual std::string version() = 0;
};

/// Groups of connected servers, the same as in the tests. A group is started at its first use, and
/// runs until the end of the benchmark. The servers end when the thread that first used them ends.
class server_groups {
public:
    support::redis_replicas& replicas(); ///< a primary with two replicas
    support::redis_cluster& cluster(std::size_t primaries, std::size_t replicas_each);
    support::redis_sentinels& sentinels();
    support::zookeeper_server& keeper(); ///< its writes do not wait for the disk

    /// Returns the server of this type, and starts it at the first call.
    template <std::derived_from<lone_server> Server>
    Server& the() {
        for (const auto& each : lone_)
            if (auto* const found = dynamic_cast<Server*>(each.get()))
                return *found;
        lone_.push_back(std::make_unique<Server>());
        return static_cast<Server&>(*lone_.back());
    }

    double cpu_seconds();   ///< CPU time of all running servers
    std::string versions(); ///< versions of the running servers, except Redis

private:
    std::unique_ptr<support::redis_replicas> replicas_;
    std::map<std::pair<std::size_t, std::size_t>, std::unique_ptr<support::redis_cluster>>
        clusters_;
    std::unique_ptr<support::redis_sentinels> sentinels_;
    std::unique_ptr<support::zookeeper_server> keeper_;
    std::vector<std::unique_ptr<lone_server>> lone_;
};

/// Return the addresses of all nodes, or of all Sentinels, such as "127.0.0.1:7000".
std::vector<std::string> addresses_of(support::redis_cluster&);
std::vector<std::string> addresses_of(support::redis_sentinels&);

/// Return the URL of the group for a client.
std::string url_of(support::redis_cluster&);
std::string url_of(support::redis_sentinels&);

// Sites of contests without failing servers.
site two_replicas(server_groups&);
site one_primary(server_groups&); ///< primary of a cluster
site three_primaries(server_groups&);
site three_primaries_with_replicas(server_groups&);
site one_keeper(server_groups&); ///< throws `not_here`

} // namespace holdfast::bench
