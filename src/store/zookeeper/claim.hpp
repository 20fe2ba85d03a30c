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

/// One node of an owner in a line: made once, whatever becomes of the answers, and deleted when it
/// is not wanted any more. Thread safety: everything on the client's executor.
class claim {
public:
    struct wish {
        std::string parent;
        std::string prefix; ///< of its name, which has the owner in it
        std::string data;
        bool numbered = true; ///< false: the prefix is the whole name
        /// What is above it: made when it is missing.
        node_mode parents_mode = node_mode::container;
    };

    claim(std::shared_ptr<household>, wish);
    claim(const claim&) = delete;
    /// What may still be there is deleted when that can be done.
    ~claim();

    /// Makes the node, if it is not there, and returns the names beside it, its own too. The answer
    /// tells of all that were made before it.
    asio::awaitable<std::vector<std::string>> among();

    asio::awaitable<void> remove(); ///< idempotent

    /// Whoever holds it now takes care of it.
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
    bool unseen_ = false; ///< it may have been made: the answer was lost
};

/// What is too long to be looked through at each turn: a megabyte is what a server sends at most.
inline constexpr std::size_t line_longest = 10'000;

} // namespace holdfast::zookeeper
