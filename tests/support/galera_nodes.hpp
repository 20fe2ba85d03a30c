// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/mariadb_server.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::support {

/// Two MariaDB servers that are one by Galera: both take writes. A node that was away is brought up
/// to date by what the other has kept of it; the whole is never copied.
class galera_nodes {
public:
    static constexpr std::size_t size = 2;

    /// Returns when both take writes. Throws `server_unavailable`, also where the package galera-4
    /// is missing.
    explicit galera_nodes(const server_binary& which = mariadb(),
                          std::vector<std::string> arguments = {});

    mariadb_server& operator[](std::size_t which) { return *nodes_.at(which); }

    /// It shuts down in good order, and the other goes on; where it is killed, the other takes no
    /// more writes, since it may be the one that is cut off.
    void leave(std::size_t which);
    /// One that has left comes back.
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
    server_process scripts_; ///< it is a folder, and runs nothing
    std::array<std::unique_ptr<mariadb_server>, size> nodes_;
};

} // namespace holdfast::support
