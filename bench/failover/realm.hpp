// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/server/server_groups.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::bench {

/// What happens to a primary. `kill` is kill -9. `stop` is SIGSTOP, so its connections stay and it
/// does not answer. `order` is a command to hand over to a replica while all nodes are well.
enum class fault { kill, stop, order };

/// Group of servers in which a failed primary is replaced.
class realm {
public:
    virtual ~realm() = default;

    virtual std::string url() const = 0; ///< as `client` takes it

    /// Returns how Redisson connects: a word for the kind of group, and addresses.
    virtual std::string words_for_redisson() const = 0;

    virtual void restore() = 0; ///< makes all servers running, empty and healthy
    virtual support::redis_server& primary() = 0;
    virtual std::vector<support::redis_server*> replicas() = 0; ///< replicas of that primary

    virtual bool is_kept_by_primary(const std::string& name) const = 0;
    virtual std::string_view telling() const = 0; ///< the command that publishes a release
    virtual std::string_view counting_listeners() const = 0; ///< the subcommand of PUBSUB

    void fail(fault);

private:
    virtual void order() = 0; ///< returns when the command was given
};

std::unique_ptr<realm> cluster_realm(server_groups&);
std::unique_ptr<realm> sentinel_realm(server_groups&);

} // namespace holdfast::bench
