// SPDX-License-Identifier: Apache-2.0
// Functions for verbs (subcommands) on a quorum: they ask each node and combine the replies.
#pragma once

#include "cli/look/looking.hpp"

#include <boost/json/array.hpp>

#include <cstddef>
#include <list>
#include <optional>
#include <string>
#include <vector>

namespace cli {

/// A server (node) of a quorum.
struct node {
    std::string server; ///< URL of the server without its password
    holdfast::client home;
};

/// Reply of one node about a lock.
struct node_state {
    std::string server;
    std::optional<holdfast::lock_state> lock{}; ///< empty if the lock is free on this node
    /// Reason why the node could not be asked. Empty if the node replied.
    std::string failure{};
    /// Whether a string at this name is shown as a lock. True if the user wrote `--type token`.
    bool strings_are_locks = false;

    bool is_held() const { return lock && lock->is_held && !is_something_else(); }
    bool is_something_else() const {
        return lock && lock->kind == holdfast::key_kind::other &&
               !(strings_are_locks && lock->type == "string");
    }
};

using node_list = std::list<node>;

/// Connects to all nodes. `outage` is the longest time that a call waits for an unreachable node. A
/// value in the URL has priority.
node_list connect_all(const look_options&, std::optional<holdfast::duration> outage);

/// Asks all nodes at the same time, so that several unreachable nodes cost only one timeout.
std::vector<node_state> inspect_all(node_list&, const std::string& name,
                                    bool strings_are_locks = false,
                                    holdfast::lock_details = holdfast::lock_details::stored);

inline std::size_t majority_of(std::size_t nodes) {
    return nodes / 2 + 1;
}

/// Returns the exit status: `success` if a majority of the nodes report the lock as held, `no_lock`
/// if a majority have a key that is not a lock. Otherwise `is_free`, or `unavailable` if too few
/// nodes replied.
int standing_of(const std::vector<node_state>&);

/// Describes the replies as text: `held on 3 of 5 nodes`.
std::string standing_in_words(const std::vector<node_state>&);

/// Returns the replies of the nodes as JSON.
boost::json::array to_json(const std::vector<node_state>&);

/// Returns the message of an error without its number.
std::string failure_in_words(const boost::system::system_error&);

/// Returns whether the user gave several servers. Stores them in `look_options::server`.
bool asks_quorum(look_options&);

// Implementations of the verbs for several servers. Each function returns the exit status.
int inspect_quorum(const look_options&);
int list_quorum(const look_options&, bool names, std::size_t limit);
int unlock_quorum(const look_options&, bool yes, bool is_token);
int wait_quorum(const look_options&, std::chrono::duration<double> most);
int examine_quorum(const look_options&);

} // namespace cli
