// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/zookeeper/custodian.hpp"
#include "store/zookeeper/holdings.hpp"
#include "store/zookeeper/orphans.hpp"
#include "store/zookeeper/paths.hpp"
#include "zookeeper/session.hpp"

#include <holdfast/store.hpp>
#include <holdfast/zookeeper/options.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::zookeeper {

/// State that all parts of one store share. Running operations keep it alive.
class household : public std::enable_shared_from_this<household> {
public:
    household(std::unique_ptr<session>, store_context, const options&);
    household(const household&) = delete;
    ~household();

    void begin(); ///< call it once, after a shared_ptr owns the object
    void close() noexcept;

    const store_context context;
    const paths where;
    const node_form form;
    const std::unique_ptr<session> at;
    holdings held;
    orphans left_behind;
    custodian own_watches;

    bool is_closed() const noexcept { return closed_; }

    /// Returns a handle; while a handle exists, writes keep the session alive.
    std::shared_ptr<void> in_use() { return at->in_use(); }
    void keep(const hold&, std::vector<own_node>);
    void forget(const hold&);

    /// Returns whether the session that made the node is still open. The node then exists unless it
    /// was deleted.
    bool lives(const own_node& node) const { return node.session == at->state().id; }

    /// Returns how long a hold that began at `began` is valid. The result depends on the answers of
    /// the ensemble so far.
    duration term_since(time_point began) const;

    /// Waits until it is sure that the session will live for a while. Call it before a grant is
    /// reported.
    asio::awaitable<void> prove_session() {
        const time_point answer_by = context.time.now() + at->command_timeout();
        co_await at->prove_alive(answer_by);
    }

    /// Returns the data for a node of this client. formats.hpp explains `above`.
    std::string data_for(const owner_id&, std::string_view above = {}) const;

    /// Makes the node and the missing nodes above it. `last` is the mode of the node. If it is
    /// container, the ensemble deletes the node some time after the node became empty.
    asio::awaitable<void> make_path(std::string path, node_mode last = node_mode::container);

    /// Returns the identity of the ensemble, which is derived from the creation of the root node.
    /// Empty: not read yet.
    const std::string& ensemble() const noexcept { return ensemble_; }

private:
    void learn_root(const node_stat&);
    void hear(session_news);
    asio::awaitable<void> read_root(std::shared_ptr<household>);
    asio::awaitable<bool> make_node(std::string path, node_mode);

    std::optional<client_card> card_;
    std::unique_ptr<watch> news_;
    std::shared_ptr<void> holding_; ///< keeps the session in use while there are holds
    std::string ensemble_;
    bool closed_ = false;
};

} // namespace holdfast::zookeeper
