// SPDX-License-Identifier: Apache-2.0
// Servers of a topology, and the functions that all topologies need.
#pragma once

#include "support/partition.hpp"
#include "support/redis_server.hpp"
#include "support/server_process.hpp"
#include "support/tls.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace holdfast::support {

/// Returns a random name for a server: 40 hexadecimal digits. It is different in each test, so that
/// no server takes another for a server of an earlier test.
inline std::string random_id() {
    thread_local std::mt19937_64 draw{std::random_device{}()};
    std::string id;
    while (id.size() < 40)
        id += "0123456789abcdef"[draw() % 16];
    return id;
}

/// Sends a command and returns the reply. Throws `std::runtime_error` if the reply is an error.
redis::reply require_answer(redis_server&, const std::vector<std::string>& words);

/// Servers of a topology in a test. They reach each other through the ports that they announce:
/// their own ports, or ports of a `partition`, which can cut the network.
class server_group {
public:
    struct options {
        bool own_clocks = false;
        bool can_be_cut = false;
        bool tls = false;
        bool keep_data = false;
        std::string password{};
        std::vector<std::string> arguments{};
    };

    server_group(server_binary, options);

    /// Reserves the ports of a server, and returns the server's own port. Call it for all servers
    /// before the first start, because each server must know the ports of the others.
    std::uint16_t reserve(bool in_cluster);
    /// Starts the next server, with `arguments` and then the arguments of the group.
    redis_server& start(std::vector<std::string> arguments, const std::string& nodes = {});

    std::size_t size() const { return servers_.size(); }
    redis_server& operator[](std::size_t which) { return *servers_.at(which); }
    std::size_t index_of(const redis_server&) const;
    std::vector<redis_server*> all();
    std::vector<redis_server*> up(); ///< all servers for which `is_up` is true
    /// Returns whether the server is neither stopped, paused nor cut off.
    bool is_up(const redis_server&) const;

    std::uint16_t port_of(std::size_t which) const { return places_[which].announced; }
    std::uint16_t bus_port_of(std::size_t which) const { return places_[which].announced_bus; }
    std::string ca_file() const { return tls_.value().ca_file(); }
    partition& ways() { return ways_.value(); }
    const options& how() const { return how_; }

    void cut(const std::vector<redis_server*>& side, partition::clients);
    void heal();
    void revive(); ///< ends the cut, resumes and starts all servers, and sets their clocks right

private:
    struct place {
        reserved_port plain{}, tls{}, bus{};
        std::uint16_t announced = 0, announced_bus = 0;
    };

    const server_binary which_;
    const options how_;
    std::optional<partition> ways_;
    std::optional<server_tls> tls_;
    std::vector<place> places_;
    std::vector<std::unique_ptr<redis_server>> servers_;
    std::vector<redis_server*> cut_off_;
};

} // namespace holdfast::support
