// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/server/server_groups.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::bench {

/// Kind of a primary's failure. `kill` is kill -9. `stop` is SIGSTOP: connections stay open, and
/// the primary does not reply. `order` is a command to hand over to a replica while all nodes are
/// healthy.
enum class fault { kill, stop, order };

/// Group of servers in which a replica replaces a failed primary.
class realm {
public:
    virtual ~realm() = default;

    virtual std::string url() const = 0; ///< as `client` takes it

    /// Returns Redisson's arguments: a word for the kind of group, and addresses.
    virtual std::string words_for_redisson() const = 0;

    virtual void restore() = 0; ///< makes all servers run, empty and healthy
    virtual support::redis_server& primary() = 0;
    /// Replicas of the primary that fails.
    virtual std::vector<support::redis_server*> replicas() = 0;

    virtual bool is_kept_by_primary(const std::string& name) const = 0;
    virtual std::string_view telling() const = 0; ///< command that publishes a release
    /// Subcommand of PUBSUB that counts subscribers.
    virtual std::string_view counting_listeners() const = 0;

    void fail(fault);

private:
    virtual void order() = 0; ///< sends the command; returns after its reply
};

std::unique_ptr<realm> cluster_realm(server_groups&);
std::unique_ptr<realm> sentinel_realm(server_groups&);

} // namespace holdfast::bench
