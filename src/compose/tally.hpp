// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sync/engine.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

namespace holdfast::compose {

/// Combines the replies of several parts into one result. The result is a success if at least
/// `needs` parts succeeded. Use it on the executor of the hold's client.
class tally : public std::enable_shared_from_this<tally> {
public:
    using tenures = std::vector<std::shared_ptr<sync::tenure>>;
    using verb = std::function<void(sync::tenure&, sync::release_handler)>;

    static verb let_go();
    static verb extend(duration length);

    /// Sends the request `what` to each part on the part's own executor, and calls `done` once. If
    /// a part's executor is not running, the part counts as failed after `patience` plus one
    /// second.
    static void ask(const std::shared_ptr<sync::engine>& home, const tenures& parts,
                    std::size_t needs, duration patience, verb what, sync::release_handler done);

    tally(std::shared_ptr<sync::engine> home, std::size_t asked, std::size_t needs,
          sync::release_handler done);

private:
    static asio::awaitable<void> expire(std::shared_ptr<tally>, duration patience);
    void answered(const sync::failure&);
    void send(const std::shared_ptr<sync::tenure>&, const verb&);
    void finish();
    sync::failure verdict() const;

    const std::shared_ptr<sync::engine> home_;
    std::optional<sync::engine::task> busy_; // close() waits for it
    const std::size_t asked_, needs_;
    std::size_t answered_ = 0, well_ = 0, lost_ = 0;
    sync::failure worst_{};
    sync::release_handler done_;
    std::unique_ptr<alarm> wake_; // while a timeout is pending
};

} // namespace holdfast::compose
