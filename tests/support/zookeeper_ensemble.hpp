// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/partition.hpp"
#include "support/zookeeper_server.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::support {

/// Servers that elect a leader. The ways between them can be cut; clients reach each of them at its
/// own port, whatever is cut.
class zookeeper_ensemble {
public:
    struct options {
        std::size_t size = 3;
        std::chrono::milliseconds tick{200};
        /// In ticks: whoever has heard nothing from the other side for so long gives up. Until then
        /// a server that is cut off goes on answering.
        int sync_limit = 5;
        std::vector<std::string> lines{};      ///< more of each configuration
        std::vector<std::string> properties{}; ///< more for each JVM

        /// For six seconds a server that is cut off goes on answering.
        static options slow_to_notice() {
            return {.tick = std::chrono::milliseconds{400}, .sync_limit = 15};
        }
    };

    /// Returns when all of them serve. Throws `server_unavailable`.
    explicit zookeeper_ensemble(const server_binary& which = zookeepers().back())
        : zookeeper_ensemble{which, options{}} {}
    zookeeper_ensemble(const server_binary&, const options&);

    std::size_t size() const { return servers_.size(); }
    zookeeper_server& operator[](std::size_t which) { return *servers_.at(which); }
    std::string url() const; ///< of all

    /// The one that leads; it waits until there is one. While a leader is cut off there are two,
    /// for a time: then `leader_without` says who leads the others.
    zookeeper_server& leader() { return one_that("leader", nullptr); }
    zookeeper_server& leader_without(const zookeeper_server& out) {
        return one_that("leader", &out);
    }
    zookeeper_server& follower() { return one_that("follower", nullptr); }
    std::vector<zookeeper_server*> all_but(const zookeeper_server&);

    /// Between it and the others nothing passes any more, and no connection is closed.
    void cut_off(const zookeeper_server&);
    void heal();

    /// All are reached, run, and serve; for who shares it (`restored_or_new`).
    void restore();

private:
    struct place {
        reserved_port client{}, quorum{}, election{};
    };

    struct election_way {
        std::size_t who, whom;
        std::uint16_t port;
    };

    zookeeper_server& one_that(const std::string& mode, const zookeeper_server* not_this);
    void translate();
    std::vector<std::string> lines_for(std::size_t which, const options&);
    std::string as_seen_by(std::size_t who, std::size_t whom);
    void wait_until_all_serve();

    partition ways_;
    std::vector<place> places_;
    std::vector<election_way> elections_;
    std::vector<std::unique_ptr<zookeeper_server>> servers_;
};

} // namespace holdfast::support
