// SPDX-License-Identifier: Apache-2.0
// Names and data of the nodes that hold a lock or wait for it: docs/protocol/zookeeper.md. Pure
// functions.
#pragma once

#include <holdfast/inspection.hpp>
#include <holdfast/store.hpp>
#include <holdfast/zookeeper/options.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::zookeeper {

/// Returns the 32 hexadecimal digits that identify an owner: half of the client's id, and the
/// owner's number.
std::string digits_of(const owner_id&);

/// Returns the prefix of an owner's node names; the server adds a number of ten digits.
/// `_c_<uuid>-lock-`, `…-__READ__`, `…-__WRIT__`; in kazoo's form: `<digits>__lock__`,
/// `…__rlock__`.
std::string node_prefix(node_form, lock_kind, const owner_id&);

/// Returns the prefix for a permit of a leased semaphore: `_c_<uuid>-lease-`. Its digits are those
/// of `permit_id`.
std::string permit_prefix(const owner_id&);
/// Returns the 32 digits in the name of a permit's node, also of Curator's nodes.
std::string permit_in(std::string_view node);

/// A node that holds a lock or waits for it. It may belong to holdfast, Curator or kazoo.
struct contender {
    std::string_view node{}; ///< its name
    std::int64_t number = 0; ///< number that the server gave it; the smallest comes first
    bool shares = false;     ///< it is a reader
    bool of_pair = false;    ///< its name is that of a read-write lock
    /// Its name is that of a mutex. kazoo's `__lock__` may belong to either kind.
    bool of_mutex = false;
};

/// Parses a node's name. Returns nothing if the node is something else. The result refers to
/// `node`, which must stay alive.
std::optional<contender> contender_at(std::string_view node);

/// Returns the holders and waiters among the children of a lock's node, in queue order. The result
/// refers to `children`.
std::vector<contender> contenders_in(const std::vector<std::string>& children);

/// Returns the owner to show to people, from the node's name alone: a UUID or 32 digits; otherwise
/// the whole name.
std::string owner_in(std::string_view node);

/// Returns the number that the server gave the node. Empty: it has none.
std::optional<std::int64_t> number_in(std::string_view node);

/// Returns the data of our nodes: the owner and, if given, a description of the client. `above` is
/// the node of the owner's own read hold that a writer upgrades; empty: none.
std::string data_of(const owner_id&, const std::optional<client_card>&,
                    std::string_view above = {});

struct told_owner {
    std::string owner{}; ///< `<uuid>:<number>`
    std::string above{};
    std::optional<client_card> client{};
};
/// Parses a node's data. Empty: another program wrote it.
std::optional<told_owner> owner_in_data(std::string_view data);

} // namespace holdfast::zookeeper
