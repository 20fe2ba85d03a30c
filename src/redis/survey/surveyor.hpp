// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/cluster/slot_map.hpp"
#include "redis/link/inquiries.hpp"
#include "redis/survey/questions.hpp"
#include "redis/survey/report.hpp"

#include <memory>
#include <set>
#include <vector>

namespace holdfast::redis {

/// Examines all servers of a topology, each over a connection for just that. Thread safety:
/// everything on the client's executor.
class surveyor : public std::enable_shared_from_this<surveyor> {
public:
    explicit surveyor(known_context);

    /// One server, or the one that Sentinels appoint, and its replicas. Throws `failure` (closed).
    asio::awaitable<topology_report> examine_primary();

    /// The primaries with slots, and their replicas. Likewise.
    asio::awaitable<topology_report> examine_cluster(slot_map, telling);

    void close();

private:
    /// How long one of several addresses of a name is waited for, when another has answered.
    static constexpr duration settles_in{300};

    class rounds;
    asio::awaitable<std::vector<server_report>> ask(std::vector<server_address>, questioned,
                                                    const slot_map*);
    asio::awaitable<server_report> ask_primary();
    asio::awaitable<std::vector<sentinel_report>> ask_sentinels();
    time_point limit() const;

    const known_context context_;
    std::set<alarm*> waiting_;
    bool closed_ = false;
};

} // namespace holdfast::redis
