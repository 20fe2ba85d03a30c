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

/// State that all parts of one store share (`household`). Running operations keep it alive.
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

    /// Returns whether the node's session is still open, so that the node exists unless it was
    /// deleted.
    bool lives(const own_node& node) const { return node.session == at->state().id; }

    /// Returns how long a hold is valid, from `began`, according to the ensemble's answers.
    duration term_since(time_point began) const;

    /// Waits until the session is known to live for a while. Call it before a grant is reported.
    asio::awaitable<void> prove_session() {
        const time_point answer_by = context.time.now() + at->command_timeout();
        co_await at->prove_alive(answer_by);
    }

    /// Returns the data for a node of this client. `above`: see formats.hpp.
    std::string data_for(const owner_id&, std::string_view above = {}) const;

    /// Makes the node and the missing nodes above it. The ensemble deletes the node after it was
    /// empty for some time, unless `last` is another mode than container.
    asio::awaitable<void> make_path(std::string path, node_mode last = node_mode::container);

    /// Returns the identity of the ensemble, from the creation of the root node; empty: not known
    /// yet.
    const std::string& ensemble() const noexcept { return ensemble_; }

private:
    void learn_root(const node_stat&);
    void hear(session_news);
    asio::awaitable<void> read_root(std::shared_ptr<household>);
    asio::awaitable<bool> make_node(std::string path, node_mode);

    std::optional<client_card> card_;
    std::unique_ptr<watch> news_;
    std::shared_ptr<void> holding_; ///< set while there are holds
    std::string ensemble_;
    bool closed_ = false;
};

} // namespace holdfast::zookeeper
