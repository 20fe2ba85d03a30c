// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/mariadb_server.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::support {

/// Two MariaDB servers that replicate each other through Galera. Both accept writes. A node that
/// joins again gets the missed changes from the other node's cache, never a full copy.
class galera_nodes {
public:
    static constexpr std::size_t size = 2;

    /// Starts both nodes, and returns when both accept writes. Throws `server_unavailable` if
    /// MariaDB or the package galera-4 is missing.
    explicit galera_nodes(const server_binary& which = mariadb(),
                          std::vector<std::string> arguments = {});

    mariadb_server& operator[](std::size_t which) { return *nodes_.at(which); }

    /// Shuts a node down properly, so that the other node continues. After a kill, the other node
    /// would accept no writes: it could not know which of the two is cut off.
    void leave(std::size_t which);
    /// Restarts a node that has left the cluster.
    void join(std::size_t which);

private:
    struct place {
        reserved_port sql{}, group{}, transfer{};
    };

    std::vector<std::string> arguments_of(std::size_t which) const;
    mariadb_server::options options_of(std::size_t which, const std::string& first = {}) const;
    void wait_until_together();

    std::vector<std::string> arguments_;
    std::array<place, size> places_;
    server_process scripts_; ///< owns a folder for the scripts; runs no program
    std::array<std::unique_ptr<mariadb_server>, size> nodes_;
};

} // namespace holdfast::support
