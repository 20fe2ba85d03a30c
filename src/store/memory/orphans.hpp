// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/memory/link.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace holdfast::memory {

/// List of holds with releases that the server did not acknowledge (`orphans`). If holds last as
/// long as the session, these holds would stay. Therefore the release is repeated until the server
/// acknowledges it or the link is closed. Holds with a lease expire by themselves, so the list does
/// not contain them. Thread safety: call everything on the client's executor.
class orphans : public std::enable_shared_from_this<orphans> {
public:
    /// `context` must outlive this object. Alternatively the link must be closed before the context
    /// ends.
    orphans(std::shared_ptr<link> way, const store_context& context)
        : link_{std::move(way)}
        , context_{context} {}

    void keep(const hold&);
    void forget(const hold&); ///< removes a hold: its release was acknowledged

private:
    bool is_left(const hold&) const;
    static asio::awaitable<void> release(std::shared_ptr<orphans>, hold);

    std::shared_ptr<link> link_;
    const store_context& context_;
    std::vector<hold> left_;
};

/// Releases a hold. If the release fails, adds the hold to the list.
asio::awaitable<release_answer> release_or_keep(std::shared_ptr<link>, std::shared_ptr<orphans>,
                                                hold);

} // namespace holdfast::memory
