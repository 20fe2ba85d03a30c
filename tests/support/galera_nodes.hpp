// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/mariadb_server.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::support {

/// Two MariaDB servers that Galera replicates; both accept writes. A node that was away gets the
/// missing changes from the other node's cache, never a full copy.
class galera_nodes {
public:
    static constexpr std::size_t size = 2;

    /// Returns when both nodes accept writes. Throws `server_unavailable`, also if the package
    /// galera-4 is missing.
    explicit galera_nodes(const server_binary& which = mariadb(),
                          std::vector<std::string> arguments = {});

    mariadb_server& operator[](std::size_t which) { return *nodes_.at(which); }

    /// Shuts a node down in good order, and the other node continues. If a node were killed, the
    /// other would accept no more writes, because it may be the node that is cut off.
    void leave(std::size_t which);
    /// Brings a node back that has left.
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
    server_process scripts_; ///< only used as a folder; runs nothing
    std::array<std::unique_ptr<mariadb_server>, size> nodes_;
};

} // namespace holdfast::support
