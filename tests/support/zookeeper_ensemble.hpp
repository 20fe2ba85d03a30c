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

/// ZooKeeper servers that elect a leader. The test can cut the network between the servers. Clients
/// use each server's own port, so they reach every server even during a cut.
class zookeeper_ensemble {
public:
    struct options {
        std::size_t size = 3;
        std::chrono::milliseconds tick{200};
        /// Time in ticks after which a server gives up if it hears nothing from the other servers.
        /// Until then, a server that is cut off continues to answer.
        int sync_limit = 5;
        std::vector<std::string> lines{};      ///< further lines of each configuration
        std::vector<std::string> properties{}; ///< further properties of each JVM

        /// Returns options that make a server answer for six more seconds after it was cut off.
        static options slow_to_notice() {
            return {.tick = std::chrono::milliseconds{400}, .sync_limit = 15};
        }
    };

    /// Starts the servers, and returns when all of them serve. Throws `server_unavailable`.
    explicit zookeeper_ensemble(const server_binary& which = zookeepers().back())
        : zookeeper_ensemble{which, options{}} {}
    zookeeper_ensemble(const server_binary&, const options&);

    std::size_t size() const { return servers_.size(); }
    zookeeper_server& operator[](std::size_t which) { return *servers_.at(which); }
    std::string url() const; ///< URL with the addresses of all servers

    /// Returns the leader; waits until there is a leader. If the leader is cut off, there are two
    /// leaders for some time. During this time call `leader_without`, which returns the leader of
    /// the other servers.
    zookeeper_server& leader() { return one_that("leader", nullptr); }
    zookeeper_server& leader_without(const zookeeper_server& out) {
        return one_that("leader", &out);
    }
    zookeeper_server& follower() { return one_that("follower", nullptr); }
    std::vector<zookeeper_server*> all_but(const zookeeper_server&);

    /// Cuts a server off from the others. No bytes pass between the two sides, and no connection is
    /// closed.
    void cut_off(const zookeeper_server&);
    void heal();

    /// Makes all servers run, serve and reach each other again. Tests that share the servers need
    /// this (`restored_or_new`).
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
