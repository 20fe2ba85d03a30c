// SPDX-License-Identifier: Apache-2.0
// Inspection of all servers of a deployment (`topology_inspector`): the questions to each server,
// and the functions that read the replies. Only `topology_inspector` does I/O.
#pragma once

#include "redis/client/resp.hpp"
#include "redis/topology/inquiries.hpp"
#include "redis/topology/report.hpp"
#include "redis/topology/slot_map.hpp"

#include <holdfast/redis/options.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::redis {

class slot_map;

enum class questioned : bool { server, node_of_cluster };

/// Returns all questions as the bytes to send.
std::string questions_for(questioned);
std::size_t count_of_questions(questioned);

/// Returns the report about a server from its replies, which are in the order of the questions.
/// `map` has the owner of each slot according to most nodes. `map` must not be null if the server
/// is a cluster node. Ignores malformed replies.
server_report read_answers(questioned, const std::vector<reply>&, const server_address& asked,
                           const slot_map* map);

// Functions that read a cluster node's replies about slots.

/// Returns the slots that are being migrated or imported, from a CLUSTER NODES reply. A node lists
/// only its own slots: `[93->-id]` is migrating, `[93-<-id]` is importing.
open_slots open_in(std::string_view nodes);

/// Returns the slots for which a node's CLUSTER SLOTS reply names another owner than the map. A
/// node with such slots does not know the latest state of the cluster. Skips slots for which the
/// node names no owner. Throws the errors of read_slots().
std::optional<disagreement> disagreement_in(const reply& slots, const server_address& asked,
                                            const slot_map&);

/// Inspects all servers of a deployment. It asks each server over a connection that is opened only
/// for this inspection. Thread safety: use it only on the client's executor.
class topology_inspector : public std::enable_shared_from_this<topology_inspector> {
public:
    explicit topology_inspector(known_context);

    /// Inspects the primary and its replicas, and the Sentinels if there are any. Throws `failure`
    /// (closed).
    asio::awaitable<topology_report> examine_primary();

    /// Inspects the primaries that own slots, and their replicas. Throws `failure` (closed).
    asio::awaitable<topology_report> examine_cluster(slot_map, telling);

    void close();

private:
    /// A server's name may have several addresses, which are all asked. When one address has
    /// replied, the question waits for the others until this time after its start.
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
