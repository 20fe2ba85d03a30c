// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/memory/link.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace holdfast::memory {

/// What was to be released or left, and the server did not acknowledge it. Where holds last as long
/// as the session, which goes on, they would stay: so this tries until it is acknowledged, or the
/// link is closed. Elsewhere they end by themselves, and it keeps none.
/// Thread safety: everything on the client's executor.
class orphans : public std::enable_shared_from_this<orphans> {
public:
    /// `context` must outlive it, or be closed before.
    orphans(std::shared_ptr<link> way, const store_context& context)
        : link_{std::move(way)}
        , context_{context} {}

    void keep(const hold&);
    void forget(const hold&); ///< it is acknowledged

private:
    bool is_left(const hold&) const;
    static asio::awaitable<void> release(std::shared_ptr<orphans>, hold);

    std::shared_ptr<link> link_;
    const store_context& context_;
    std::vector<hold> left_;
};

/// Releases it. One that fails is an orphan.
asio::awaitable<release_answer> release_or_keep(std::shared_ptr<link>, std::shared_ptr<orphans>,
                                                hold);

} // namespace holdfast::memory
