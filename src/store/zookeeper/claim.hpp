// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/zookeeper/household.hpp"
#include "store/zookeeper/own_node.hpp"
#include "zookeeper/session.hpp"

#include <holdfast/asio.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::zookeeper {

/// An ephemeral node of one owner in the queue of a lock (`claim`). Only one node is made, even if
/// answers are lost. The node is deleted when it is no longer needed. Thread safety: call
/// everything on the client's executor.
class claim {
public:
    struct wish {
        std::string parent;
        std::string prefix; ///< prefix of the node's name; it contains the owner
        std::string data;
        /// whether the server adds a number; false: the prefix is the whole name
        bool numbered = true;
        /// Mode of the parent, and of the other nodes above, if they must be made.
        node_mode parents_mode = node_mode::container;
    };

    claim(std::shared_ptr<household>, wish);
    claim(const claim&) = delete;
    /// Deletes the node in the background if it may still exist.
    ~claim();

    /// Makes the node if it does not exist. Returns the names of all children of the parent, with
    /// the node's own name. The result contains every existing node that was made before this node.
    asio::awaitable<std::vector<std::string>> among();

    asio::awaitable<void> remove(); ///< deletes the node; a repeated call does no harm

    /// Passes the node to the caller, which must delete it.
    own_node hand_over();

    const std::optional<own_node>& node() const noexcept { return mine_; }
    std::string_view name() const noexcept { return last_part(mine_->path); }

    bool may_exist() const noexcept { return unseen_ || mine_; }
    bool uncertain() const noexcept { return unseen_; }

private:
    asio::awaitable<std::optional<std::vector<std::string>>> list_beside();
    asio::awaitable<std::optional<std::vector<std::string>>> make();
    asio::awaitable<void> find();
    asio::awaitable<void> make_parent_anew();
    bool is_among(const std::vector<std::string>&) const;

    const std::shared_ptr<household> home_;
    const wish want_;
    std::optional<own_node> mine_;
    bool unseen_ = false; ///< the answer was lost, so the node may exist
};

/// Maximum number of nodes in a queue. Each attempt reads the whole list, and a server sends at
/// most one megabyte.
inline constexpr std::size_t line_longest = 10'000;

} // namespace holdfast::zookeeper
