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

/// Returns all questions, in the form in which they are sent.
std::string questions_for(questioned);
std::size_t count_of_questions(questioned);

/// Reads the replies, which are in the order of the questions. `map` is the owner of each slot
/// according to most nodes; it must not be null for a cluster node. Malformed replies are ignored.
server_report read_answers(questioned, const std::vector<reply>&, const server_address& asked,
                           const slot_map* map);

// Readers of a cluster node's replies about slots.

/// Returns the slots that are being migrated or imported, from a CLUSTER NODES reply. In the reply,
/// a node lists only the slots that it moves itself: `[93->-id]` is migrating, `[93-<-id]` is
/// importing.
open_slots open_in(std::string_view nodes);

/// Returns the slots for which a node's CLUSTER SLOTS reply names another owner than the map. A
/// node with such slots does not know the newest state of the cluster. Slots for which the node
/// names no owner are left out. Throws the errors of read_slots().
std::optional<disagreement> disagreement_in(const reply& slots, const server_address& asked,
                                            const slot_map&);

/// Inspector of all servers of a deployment. It asks each server over a connection that is opened
/// only for this inspection. Thread safety: use it on the client's executor only.
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
    /// How long a question waits for the other addresses of a name after one address has replied,
    /// counted from its start.
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
