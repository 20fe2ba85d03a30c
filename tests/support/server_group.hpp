// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/partition.hpp"
#include "support/redis_server.hpp"
#include "support/reserved_port.hpp"
#include "support/server_tls.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::support {

/// Sends a command. Throws `std::runtime_error` if the reply is an error.
redis::reply require_answer(redis_server&, const std::vector<std::string>& words);

/// Servers of a test's topology. They find each other by the ports that they announce: their own,
/// or those of a partition.
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

    /// Reserves the ports of a server. All servers reserve first, because each must know the ports
    /// of the others. Returns the server's own port.
    std::uint16_t reserve(bool in_cluster);
    /// Starts the next server. The group's arguments follow `arguments`.
    redis_server& start(std::vector<std::string> arguments, const std::string& nodes = {});

    std::size_t size() const { return servers_.size(); }
    redis_server& operator[](std::size_t which) { return *servers_.at(which); }
    std::size_t index_of(const redis_server&) const;
    std::vector<redis_server*> all();
    std::vector<redis_server*> up();       ///< the servers for which `is_up` is true
    bool is_up(const redis_server&) const; ///< neither stopped, nor paused, nor cut off

    std::uint16_t port_of(std::size_t which) const { return places_[which].announced; }
    std::uint16_t bus_port_of(std::size_t which) const { return places_[which].announced_bus; }
    std::string ca_file() const { return tls_.value().ca_file(); }
    partition& ways() { return ways_.value(); }
    const options& how() const { return how_; }

    void cut(const std::vector<redis_server*>& side, partition::clients);
    void heal();
    void revive(); ///< heals, resumes, starts, and sets clocks right

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
