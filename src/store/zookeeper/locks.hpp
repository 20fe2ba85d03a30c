// SPDX-License-Identifier: Apache-2.0
// Locks in one session: the node of an owner in a queue (`queue_node`), the waiter for a lock,
// renewal, release, and the lock store.
#pragma once

#include "store/zookeeper/nodes.hpp"
#include "store/zookeeper/store_session.hpp"
#include "zookeeper/session.hpp"

#include <holdfast/asio.hpp>
#include <holdfast/store.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::zookeeper {

/// Ephemeral node of one owner in the queue of a lock. The object creates only one node, even if
/// answers are lost, and deletes the node when it is no longer needed. Thread safety: call
/// everything on the client's executor.
class queue_node {
public:
    struct node_options {
        std::string parent;
        std::string prefix; ///< start of the node's name, which contains the owner
        std::string data;
        /// true: the server appends a number to `prefix`; false: `prefix` is the whole name
        bool numbered = true;
        /// Mode (persistent, container, …) of the nodes above this node. It is used if these nodes
        /// are missing and must be created.
        node_mode parents_mode = node_mode::container;
    };

    queue_node(std::shared_ptr<store_session>, node_options);
    queue_node(const queue_node&) = delete;
    /// Deletes the node in the background if it may still exist.
    ~queue_node();

    /// Creates the node if it does not exist. Returns the names of all children of the parent,
    /// including this node. The list contains each earlier node that still exists. Starts no
    /// request after `last_start`.
    asio::awaitable<std::vector<std::string>> among(time_point last_start);

    asio::awaitable<void> remove(); ///< deletes the node; a repeated call does no harm
    /// Deletes the node, but starts no request after `last_start`. If the node still exists after
    /// this call, the caller must delete it later (`place::must_leave`).
    asio::awaitable<void> remove_until(time_point last_start);

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

    const std::shared_ptr<store_session> home_;
    const node_options want_;
    std::optional<own_node> mine_;
    bool unseen_ = false; ///< true: an answer was lost, so the node may exist
    /// The present call starts no request after this time.
    time_point last_start_ = time_point::max();
};

/// Maximum number of nodes in a queue. Each attempt reads the names of all these nodes, and an
/// answer of the server has at most one megabyte.
inline constexpr std::size_t line_longest = 10'000;

/// Watch of one node. When the node changes, the watch rings an alarm once, and remembers the
/// change.
class predecessor_watch {
public:
    predecessor_watch(store_session& home, alarm& wake)
        : home_{home}
        , wake_{wake} {}

    /// Sets the watch. Returns false if the node does not exist.
    asio::awaitable<bool> watch_over(std::string path);
    void stop();

private:
    store_session& home_;
    alarm& wake_;
    std::string path_;
    std::shared_ptr<bool> rung_;
    std::unique_ptr<watch> watch_;
};

/// Waiter for one lock. It creates its own node in the queue, and watches the node before its own.
/// A waiter that upgrades a read hold also watches the node of this read hold.
class lock_place final : public place {
public:
    /// `wake` must outlive the object.
    lock_place(std::shared_ptr<store_session>, ask, alarm& wake);
    ~lock_place() override;

    asio::awaitable<answer> look() override;
    asio::awaitable<void> leave() override;

    bool must_leave() const noexcept override { return granted_ || node_in_queue_.may_exist(); }
    bool uncertain() const noexcept override { return node_in_queue_.uncertain(); }
    /// Returns a time in the past, because the server never executes a late request: when another
    /// connection has taken over the session, requests on the old connection have no effect.
    time_point settled_at() const noexcept override { return time_point::min(); }

private:
    asio::awaitable<bool> is_taken(time_point last_start);
    bool is_taken_by(const std::vector<std::string>& names) const;
    asio::awaitable<bool> upgrade_same_hold(std::vector<std::string> rivals, time_point last_start);
    asio::awaitable<bool> set_watches(std::string before, time_point last_start);
    void stop_watches();
    answer granted(time_point began);
    answer busy() const;
    const own_node* stood_on() const;
    /// Returns false if the request upgrades or downgrades another hold of the owner, and that
    /// other hold is lost. `names` are the children that exist now, or null if they are not known
    /// yet.
    bool is_founded(const std::vector<std::string>* names) const;
    std::string_view aside() const;

    const std::shared_ptr<store_session> home_;
    const std::shared_ptr<void> session_lives_ = home_->in_use();
    const ask want_;
    const std::string parent_;
    queue_node node_in_queue_;
    predecessor_watch before_;
    predecessor_watch upgraded_; ///< watches the node of the read hold
    /// Writers that upgrade the same read hold as this writer.
    std::vector<std::string> fellow_upgrades_;
    bool granted_ = false; ///< true: the node is in `store_session::held`
    bool leaving_ = false;
};

/// Implements `lock_store::renew`. One write checks up to 500 nodes and keeps the session alive. A
/// hold lasts as long as the session, so the requested lease has no effect.
asio::awaitable<void> renew_holds(std::shared_ptr<store_session>, hold_list, time_point answer_by,
                                  renewal_sink&);

/// Implements `lock_store::release`: deletes the nodes of the hold. A node that cannot be deleted
/// now is deleted later in the background.
asio::awaitable<release_answer> release_nodes(std::shared_ptr<store_session>, hold);

/// Lock store in one session, for all kinds of locks that Curator has, with nodes in Curator's
/// format.
class zookeeper_locks final : public lock_store {
public:
    explicit zookeeper_locks(std::shared_ptr<store_session> home)
        : home_{std::move(home)} {}

    bool offers(lock_kind kind) const noexcept override;
    limits bounds() const noexcept override;
    std::optional<std::string> objection_to(const lock_name& name) const override {
        return home_->where.objection_to(name);
    }

    std::unique_ptr<place> line_up(ask want, alarm& wake) override;
    asio::awaitable<void> renew(hold_list, const renewal_options&, renewal_sink&) override;
    asio::awaitable<release_answer> release(hold) override;
    std::unique_ptr<watch> watch_over(const hold&, revalidator&) override;

private:
    const std::shared_ptr<store_session> home_;
};

} // namespace holdfast::zookeeper
