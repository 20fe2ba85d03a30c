// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/node_context.hpp"

#include <memory>

namespace holdfast::redis {

class ear;
class lanes;
class mouths;

/// Keeps all connections of a member at one server. Where its name, or a proxy, leads to another
/// one, connections that are there stay at the old one; two calls of one client would then ask
/// different servers for the same lock.
///
/// The shared connection for requests decides. When it leads to another server, or to one that does
/// not tell which it is, the others end and follow. When a new one of the others leads to another
/// server, that is news of the same kind, and all of them end. Behind a proxy that asks whichever
/// server it likes such news mean nothing, so they are heeded less and less often.
class together {
public:
    together(std::shared_ptr<node_context>, std::shared_ptr<mouths>, std::shared_ptr<lanes>,
             std::shared_ptr<ear>);

    // See node_context.
    void shared_met(const server_in_use&);
    void other_met(const introduction&);

private:
    static constexpr duration heeded_again_max = std::chrono::hours{1};

    const std::shared_ptr<node_context> context_;
    const std::shared_ptr<mouths> mouths_;
    const std::shared_ptr<lanes> lanes_;
    const std::shared_ptr<ear> ear_;
    duration pause_; // once such news were heeded
    time_point heeds_from_ = time_point::min();
};

} // namespace holdfast::redis
