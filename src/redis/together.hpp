// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/node_context.hpp"

#include <memory>

namespace holdfast::redis {

class ear;
class lanes;
class mouths;

/// Keeps all connections of a `member` at the same server. When a name or a proxy begins to lead to
/// another server, existing connections stay at the old server. Two calls of one client could then
/// ask different servers for the same lock.
///
/// The command connection decides. The other connections end and are opened again if it leads to
/// another server, or to a server that does not tell its run_id. All connections end if another new
/// connection leads to another server. Behind a proxy that picks a server for each connection,
/// different servers are normal and mean no change. Therefore further events are ignored for a
/// while after each event, and this while grows each time.
class together {
public:
    together(std::shared_ptr<node_context>, std::shared_ptr<mouths>, std::shared_ptr<lanes>,
             std::shared_ptr<ear>);

    // Callbacks of the connections; see node_context.
    void shared_met(const server_in_use&);
    void other_met(const introduction&);

private:
    static constexpr duration heeded_again_max = std::chrono::hours{1};

    const std::shared_ptr<node_context> context_;
    const std::shared_ptr<mouths> mouths_;
    const std::shared_ptr<lanes> lanes_;
    const std::shared_ptr<ear> ear_;
    duration pause_; // how long further events are ignored; doubles at each event
    time_point heeds_from_ = time_point::min();
};

} // namespace holdfast::redis
