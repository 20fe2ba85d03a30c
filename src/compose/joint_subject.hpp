// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "compose/inquiry.hpp"

#include <atomic>
#include <string>
#include <vector>

namespace holdfast::compose {

/// What an object knows of a lock that is made of several. `needs` of them make a hold.
/// Thread safety: as of every subject.
class joint_subject : public sync::subject {
public:
    /// Of the first member's client. `name` is for people.
    joint_subject(std::vector<member>, lock_name name, std::size_t needs, duration lease,
                  const detail::lock_setup&);

    const std::vector<member> members; ///< in the order in which they were given
    const std::size_t needs;

    const std::string& entry() const noexcept override { return entry_; }
    sync::family kin() const noexcept override { return sync::family::several; }
    sync::side way() const noexcept override { return sync::side::several; }
    bool is_joint() const noexcept override { return true; }

    asio::awaitable<std::optional<holding>> inspect() const override;
    asio::awaitable<bool> force() const override;
    std::vector<const sync::engine*> homes() const override;

private:
    const std::string entry_; ///< the same for the same members of the same clients
};

/// All of them.
class multi_subject final : public joint_subject {
public:
    multi_subject(std::vector<member>, duration lease);

    asio::awaitable<std::shared_ptr<sync::tenure>>
        take(std::shared_ptr<sync::acquisition>) const override;

    void refuse_parts_of_this_thread() const override;
    void lend_parts(const sync::tenure&) const override;
    void take_back_parts() const override;
};

/// Any one of them: what it takes is that one's own hold.
class any_subject final : public joint_subject {
public:
    any_subject(std::vector<member>, duration lease);

    bool takes_turns() const noexcept override { return false; }
    asio::awaitable<std::shared_ptr<sync::tenure>>
        take(std::shared_ptr<sync::acquisition>) const override;
};

/// What a quorum keeps to, checked.
struct quorum_rules {
    duration node_patience{};
    duration longest_lease{};
    bool nodes_remember = false;
};

/// A majority of them.
class quorum_subject final : public joint_subject {
public:
    quorum_subject(std::vector<member>, lock_name name, duration lease, recursion again,
                   quorum_rules);

    const quorum_rules rules;

    asio::awaitable<std::shared_ptr<sync::tenure>>
        take(std::shared_ptr<sync::acquisition>) const override;

    question ballot(std::optional<duration> lease) const; ///< how a node is asked for its vote
    /// What makes it less than it seems is told once.
    void tell_if_impaired(const inquiry&) const;

private:
    mutable std::atomic<bool> told_impaired_ = false;
};

/// Throws `invalid_argument` if two of them, as far as they answered, are one lock on one server.
void refuse_doubles(const joint_subject&, const inquiry&);

} // namespace holdfast::compose
