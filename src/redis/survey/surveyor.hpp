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

/// Inspects all servers of a deployment. Each server is asked over a connection that is opened only
/// for this. Thread safety: only on the client's executor.
class surveyor : public std::enable_shared_from_this<surveyor> {
public:
    explicit surveyor(known_context);

    /// Inspects the primary and its replicas, and the Sentinels if there are any. Throws `failure`
    /// (closed).
    asio::awaitable<topology_report> examine_primary();

    /// Inspects the primaries that own slots, and their replicas. Throws `failure` (closed).
    asio::awaitable<topology_report> examine_cluster(slot_map, telling);

    void close();

private:
    /// Longest wait for the other addresses of a name after one address has replied.
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
