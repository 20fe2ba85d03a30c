// SPDX-License-Identifier: Apache-2.0
// What the looking verbs do where a quorum is asked: each node, and then all of them as a whole.
#pragma once

#include "cli/look/looking.hpp"

#include <boost/json/array.hpp>

#include <cstddef>
#include <list>
#include <optional>
#include <string>
#include <vector>

namespace cli {

/// A server of a quorum.
struct node {
    std::string server; ///< its URL without the password
    holdfast::client home;
};

/// What one node answered about a lock.
struct node_state {
    std::string server;
    std::optional<holdfast::lock_state> lock{}; ///< empty: it is free there
    std::string failure{};                      ///< why it could not be asked; empty: it was

    bool is_held() const { return lock && lock->is_held && !is_something_else(); }
    bool is_something_else() const { return lock && lock->kind == holdfast::key_kind::other; }
};

using node_list = std::list<node>;

node_list connect_all(const look_options&);

/// At all nodes at once, so that several that are away are waited for once.
std::vector<node_state> inspect_all(node_list&, const std::string& name);

inline std::size_t majority_of(std::size_t nodes) {
    return nodes / 2 + 1;
}

/// By the exit statuses of the verbs: `success` if so many hold it that nobody else could have a
/// majority, `is_free`, `no_lock`, or `unavailable` if fewer than a majority answered.
int standing_of(const std::vector<node_state>&);

/// A sentence of the above: `held on 3 of 5 nodes`.
std::string standing_in_words(const std::vector<node_state>&);

/// For programs: the nodes of a lock.
boost::json::array to_json(const std::vector<node_state>&);

/// A failure without the code's number.
std::string failure_in_words(const boost::system::system_error&);

/// Whether the verb is to ask several servers; sets `look_options::server`.
bool asks_quorum(look_options&);

// The verbs on several servers; each answers the exit status.
int inspect_quorum(const look_options&);
int list_quorum(const look_options&, bool names, std::size_t limit);
int unlock_quorum(const look_options&, bool yes, bool is_token);
int wait_quorum(const look_options&, std::chrono::duration<double> most);
int examine_quorum(const look_options&);

} // namespace cli
