// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/server/server_groups.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::bench {

/// What happens to a primary: kill -9; SIGSTOP, so that its connections stay and nobody answers; or
/// an order to hand over to a replica, while all is well.
enum class fault { kill, stop, order };

/// Servers of which one is replaced when it fails.
class realm {
public:
    virtual ~realm() = default;

    virtual std::string url() const = 0; ///< as `client` takes it

    /// How Redisson reaches it: a word that says what it is, and addresses.
    virtual std::string words_for_redisson() const = 0;

    virtual void restore() = 0; ///< all are up, empty, and well
    virtual support::redis_server& primary() = 0;
    virtual std::vector<support::redis_server*> replicas() = 0; ///< of that primary

    virtual bool is_kept_by_primary(const std::string& name) const = 0;
    virtual std::string_view telling() const = 0; ///< the command that tells of a release
    virtual std::string_view counting_listeners() const = 0; ///< the word behind PUBSUB

    void fail(fault);

private:
    virtual void order() = 0; ///< returns when it was given
};

std::unique_ptr<realm> cluster_realm(server_groups&);
std::unique_ptr<realm> sentinel_realm(server_groups&);

} // namespace holdfast::bench
