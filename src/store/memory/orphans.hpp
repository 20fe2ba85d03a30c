// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/memory/link.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace holdfast::memory {

/// List of holds whose release the server did not acknowledge (`orphans`). If holds last as long as
/// the session, they would stay. So this repeats the release until it is acknowledged or the link
/// is closed. Holds with a lease end by themselves, and are not kept here. Thread safety: call
/// everything on the client's executor.
class orphans : public std::enable_shared_from_this<orphans> {
public:
    /// `context` must outlive this object, or the link must be closed before.
    orphans(std::shared_ptr<link> way, const store_context& context)
        : link_{std::move(way)}
        , context_{context} {}

    void keep(const hold&);
    void forget(const hold&); ///< the release was acknowledged

private:
    bool is_left(const hold&) const;
    static asio::awaitable<void> release(std::shared_ptr<orphans>, hold);

    std::shared_ptr<link> link_;
    const store_context& context_;
    std::vector<hold> left_;
};

/// Releases a hold. If that fails, the hold is added to the list.
asio::awaitable<release_answer> release_or_keep(std::shared_ptr<link>, std::shared_ptr<orphans>,
                                                hold);

} // namespace holdfast::memory
