// SPDX-License-Identifier: Apache-2.0
// Verbs that ask a quorum: they ask each node, and then say what the answers mean together.
#pragma once

#include "cli/look/looking.hpp"

#include <boost/json/array.hpp>

#include <cstddef>
#include <list>
#include <optional>
#include <string>
#include <vector>

namespace cli {

/// Server of a quorum.
struct node {
    std::string server; ///< its URL without the password
    holdfast::client home;
};

/// Answer of one node about a lock.
struct node_state {
    std::string server;
    std::optional<holdfast::lock_state> lock{}; ///< empty if the lock is free on this node
    std::string failure{};                      ///< why the node could not be asked; empty if it
                                                ///< answered

    bool is_held() const { return lock && lock->is_held && !is_something_else(); }
    bool is_something_else() const { return lock && lock->kind == holdfast::key_kind::other; }
};

using node_list = std::list<node>;

node_list connect_all(const look_options&);

/// Asks all nodes at the same time, so that several unreachable nodes cost only one timeout.
std::vector<node_state> inspect_all(node_list&, const std::string& name);

inline std::size_t majority_of(std::size_t nodes) {
    return nodes / 2 + 1;
}

/// Returns the exit status for these answers. `success` means that so many nodes are held that no
/// other client can get a majority. Otherwise returns `is_free`, `no_lock`, or `unavailable` if
/// fewer than a majority answered.
int standing_of(const std::vector<node_state>&);

/// Describes the answers in words: `held on 3 of 5 nodes`.
std::string standing_in_words(const std::vector<node_state>&);

/// Returns the answers of the nodes as JSON.
boost::json::array to_json(const std::vector<node_state>&);

/// Returns the text of a failure without the number of its code.
std::string failure_in_words(const boost::system::system_error&);

/// Returns whether the verb must ask several servers. Sets `look_options::server`.
bool asks_quorum(look_options&);

// The verbs on several servers. Each function returns the exit status.
int inspect_quorum(const look_options&);
int list_quorum(const look_options&, bool names, std::size_t limit);
int unlock_quorum(const look_options&, bool yes, bool is_token);
int wait_quorum(const look_options&, std::chrono::duration<double> most);
int examine_quorum(const look_options&);

} // namespace cli
