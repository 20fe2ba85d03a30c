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

/// Returns the 32 hexadecimal digits that identify an owner. They consist of half of the client's
/// id and the owner's number.
std::string digits_of(const owner_id&);

/// Returns the prefix of an owner's node names. The server adds a number of ten digits. Prefixes:
/// `_c_<uuid>-lock-`, `…-__READ__`, `…-__WRIT__`; in kazoo's form `<digits>__lock__`, `…__rlock__`.
std::string node_prefix(node_form, lock_kind, const owner_id&);

/// Returns the prefix of the node of a permit of a leased semaphore: `_c_<uuid>-lease-`. The digits
/// in it are those of `permit_id`.
std::string permit_prefix(const owner_id&);
/// Returns the 32 digits in the name of a permit's node. Curator's nodes have them too.
std::string permit_in(std::string_view node);

/// A node that holds a lock or waits for it. It may belong to holdfast, Curator or kazoo.
struct contender {
    std::string_view node{}; ///< name of the node
    /// number that the server gave the node; the smallest number is first in the queue
    std::int64_t number = 0;
    bool shares = false;  ///< whether the node belongs to a reader
    bool of_pair = false; ///< whether the name belongs to a read-write lock
    /// Whether the name belongs to a mutex. kazoo's `__lock__` may belong to a mutex or a
    /// read-write lock.
    bool of_mutex = false;
};

/// Parses a node's name. Returns an empty result if the node neither holds nor waits for a lock.
/// The result refers to `node`, which must stay alive.
std::optional<contender> contender_at(std::string_view node);

/// Returns the holders and waiters among the children of a lock's node, in queue order. The result
/// refers to `children`.
std::vector<contender> contenders_in(const std::vector<std::string>& children);

/// Returns the owner for messages, using only the node's name. The owner is a UUID or 32 digits if
/// the name has them; otherwise it is the whole name.
std::string owner_in(std::string_view node);

/// Returns the number that the server gave the node. Empty: the name has no number.
std::optional<std::int64_t> number_in(std::string_view node);

/// Returns the data for a node of this client: the owner and, if given, a description of the
/// client. `above` is the node of the read hold that a writer upgrades; empty: no upgrade.
std::string data_of(const owner_id&, const std::optional<client_card>&,
                    std::string_view above = {});

struct told_owner {
    std::string owner{}; ///< `<uuid>:<number>`
    std::string above{};
    std::optional<client_card> client{};
};
/// Parses a node's data. Returns an empty result if another program wrote the data.
std::optional<told_owner> owner_in_data(std::string_view data);

} // namespace holdfast::zookeeper
