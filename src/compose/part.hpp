// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sync/tenure.hpp"

#include <memory>
#include <utility>

namespace holdfast::compose {

/// Part of a hold on several locks: the hold of one member. It is the only owner of that hold. Its
/// destructor releases the hold through the member's client, without waiting. Thread safety: none,
/// but any thread may destroy it.
class part {
public:
    part() = default;
    explicit part(std::shared_ptr<sync::tenure> held)
        : held_{std::move(held)} {}
    part(part&&) noexcept = default;
    part& operator=(part&& other) noexcept {
        const part dropped{std::move(held_)};
        held_ = std::move(other.held_);
        return *this;
    }
    ~part();

    explicit operator bool() const noexcept { return held_ != nullptr; }
    const std::shared_ptr<sync::tenure>& hold() const noexcept { return held_; }
    bool believed() const noexcept { return held_ && held_->believed(); }

    /// Moves the hold out. The caller must release it.
    std::shared_ptr<sync::tenure> take() noexcept { return std::move(held_); }

private:
    std::shared_ptr<sync::tenure> held_;
};

} // namespace holdfast::compose
