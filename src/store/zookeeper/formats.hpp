// SPDX-License-Identifier: Apache-2.0
// The names and the data of the nodes that hold or wait: docs/protocol/zookeeper.md. Pure.
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

/// The 32 hexadecimal digits that name one owner: half of the client's id, and the number.
std::string digits_of(const owner_id&);

/// What the names of an owner's nodes begin with; the server adds ten digits to it, the number.
/// `_c_<uuid>-lock-`, `…-__READ__`, `…-__WRIT__`; kazoo's: `<digits>__lock__`, `…__rlock__`.
std::string node_prefix(node_form, lock_kind, const owner_id&);

/// Of a leased semaphore's permit: `_c_<uuid>-lease-`; its digits are those of `permit_id`.
std::string permit_prefix(const owner_id&);
/// The 32 digits of that, of Curator's too.
std::string permit_in(std::string_view node);

/// One that holds a lock or waits for it: ours, Curator's, kazoo's.
struct contender {
    std::string_view node{}; ///< its name
    std::int64_t number = 0; ///< as the server gave it: the smallest is the first
    bool shares = false;     ///< it reads
    bool of_pair = false;    ///< of a read-write lock: by its mark
    bool of_mutex = false;   ///< of a mutex, by its mark; kazoo's `__lock__` may be of either
};

/// Nothing: that node is something else. What is viewed must stay.
std::optional<contender> contender_at(std::string_view node);

/// Those among the children of a lock's node, the first one first.
std::vector<contender> contenders_in(const std::vector<std::string>& children);

/// What people call it who see only its name: a UUID or 32 digits; else all of it.
std::string owner_in(std::string_view node);

/// The number that the server gave it; nothing: it has none.
std::optional<std::int64_t> number_in(std::string_view node);

/// What our nodes have as data: the owner and, if it says so, who that is.
/// `above`: the node of its own read hold, above which it would write; empty: it has none.
std::string data_of(const owner_id&, const std::optional<client_card>&,
                    std::string_view above = {});

struct told_owner {
    std::string owner{}; ///< `<uuid>:<number>`
    std::string above{};
    std::optional<client_card> client{};
};
/// Nothing: somebody else wrote it.
std::optional<told_owner> owner_in_data(std::string_view data);

} // namespace holdfast::zookeeper
