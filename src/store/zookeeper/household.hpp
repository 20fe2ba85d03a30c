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

/// What everything in one store shares. Whatever is under way keeps it.
class household : public std::enable_shared_from_this<household> {
public:
    household(std::unique_ptr<session>, store_context, const options&);
    household(const household&) = delete;
    ~household();

    void begin(); ///< once, when somebody owns it
    void close() noexcept;

    const store_context context;
    const paths where;
    const node_form form;
    const std::unique_ptr<session> at;
    holdings held;
    orphans left_behind;
    custodian own_watches;

    bool is_closed() const noexcept { return closed_; }

    /// As long as somebody keeps it, writes keep the session alive.
    std::shared_ptr<void> in_use() { return at->in_use(); }
    void keep(const hold&, std::vector<own_node>);
    void forget(const hold&);

    /// Whether that node is there, unless somebody has deleted it.
    bool lives(const own_node& node) const { return node.session == at->state().id; }

    /// Of what the ensemble said to something that began then.
    duration term_since(time_point began) const;

    /// Waits until it is known that the session lives for a while, before a hold in it is reported.
    asio::awaitable<void> prove_session() {
        const time_point answer_by = context.time.now() + at->command_timeout();
        co_await at->prove_alive(answer_by);
    }

    /// Of a node; `above`: see formats.hpp.
    std::string data_for(const owner_id&, std::string_view above = {}) const;

    /// Makes what is missing above the node of a lock; and that, which the ensemble takes away when
    /// it has been empty for some time, and `last` says otherwise.
    asio::awaitable<void> make_path(std::string path, node_mode last = node_mode::container);

    /// Which ensemble this is, by when it made the root, as far as that is known.
    const std::string& ensemble() const noexcept { return ensemble_; }

private:
    void learn_root(const node_stat&);
    void hear(session_news);
    asio::awaitable<void> read_root(std::shared_ptr<household>);
    asio::awaitable<bool> make_node(std::string path, node_mode);

    std::optional<client_card> card_;
    std::unique_ptr<watch> news_;
    std::shared_ptr<void> holding_; ///< while there are holds
    std::string ensemble_;
    bool closed_ = false;
};

} // namespace holdfast::zookeeper
