// SPDX-License-Identifier: Apache-2.0
// Descriptors of locks that consist of several locks, their *members*. A caller holds such a lock
// when it holds all members, any one member, or a majority of the members, depending on the lock.
#pragma once

#include "compose/member_requests.hpp"

#include <atomic>
#include <functional>
#include <string>
#include <vector>

namespace holdfast::compose {

/// Descriptor of a lock that consists of several locks. A caller must hold at least `needs` of
/// these locks. Any thread may use the descriptor, as with every `lock_descriptor`.
class composite_descriptor : public sync::lock_descriptor {
public:
    /// Creates the descriptor. The lock belongs to the client of the first member. `name` is used
    /// only in messages.
    composite_descriptor(std::vector<member>, lock_name name, std::size_t needs, duration lease,
                         const detail::lock_setup&);

    const std::vector<member> members; ///< in the order in which the user gave them
    const std::size_t needs;

    const std::string& entry() const noexcept override { return entry_; }
    sync::family lock_family() const noexcept override { return sync::family::several; }
    sync::side way() const noexcept override { return sync::side::several; }
    bool is_joint() const noexcept override { return true; }

    asio::awaitable<std::optional<holding>> inspect() const override;
    std::function<asio::awaitable<bool>()> forcing() const override;
    std::vector<const sync::engine*> homes() const override;

private:
    /// Key of the lock; two objects with the same members of the same clients have the same key.
    const std::string entry_;
};

/// Lock that is held when all members are held.
class multi_descriptor final : public composite_descriptor {
public:
    multi_descriptor(std::vector<member>, duration lease);

    asio::awaitable<std::shared_ptr<sync::lock_handle>>
        take(std::shared_ptr<sync::acquisition>) const override;

    void refuse_parts_of_this_thread() const override;
    void lend_parts(const sync::lock_handle&) const override;
    void take_back_parts() const override;
};

/// Lock that is held when any one member is held. The caller gets the hold of this member.
class any_descriptor final : public composite_descriptor {
public:
    any_descriptor(std::vector<member>, duration lease);

    bool takes_turns() const noexcept override { return false; }
    asio::awaitable<std::shared_ptr<sync::lock_handle>>
        take(std::shared_ptr<sync::acquisition>) const override;
};

/// Checked options of a quorum.
struct quorum_rules {
    duration node_timeout{};
    duration longest_lease{};
    bool nodes_remember = false;
};

/// Lock that is held when a majority of its members (a quorum) is held.
class quorum_descriptor final : public composite_descriptor {
public:
    quorum_descriptor(std::vector<member>, lock_name name, duration lease, recursion again,
                      quorum_rules);

    const quorum_rules rules;

    asio::awaitable<std::shared_ptr<sync::lock_handle>>
        take(std::shared_ptr<sync::acquisition>) const override;

    /// Returns the options of a request for a node's vote.
    request_options vote_options(std::optional<duration> lease) const;
    /// Reports the event `impaired` once, if the quorum has fewer than three nodes, or if a node
    /// that granted its vote does not report when it was started.
    void tell_if_impaired(const member_requests&) const;

private:
    mutable std::atomic<bool> told_impaired_ = false;
};

/// Throws `invalid_argument` if two members are the same lock on the same server. Members whose
/// servers have not replied cannot be compared.
void refuse_doubles(const composite_descriptor&, const member_requests&);

} // namespace holdfast::compose
