// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sync/subject.hpp"

#include <memory>

namespace holdfast::sync {

/// Who waits for the release of a holder that tells nobody looks at least this often.
inline constexpr duration untold_poll_bound{250};

/// A place that takes nothing: it grants when the lock is seen free, whoever holds it before.
class seen_free final : public place {
public:
    /// Both must outlive it.
    seen_free(engine& home, lock_name name, alarm& wake)
        : home_{home}
        , name_{std::move(name)}
        , wake_{wake} {}

    asio::awaitable<answer> look() override;
    asio::awaitable<void> leave() override { co_return; }

    bool must_leave() const noexcept override { return false; }
    bool uncertain() const noexcept override { return false; }
    time_point settled_at() const noexcept override { return time_point::min(); }

private:
    engine& home_;
    const lock_name name_;
    alarm& wake_;
    std::unique_ptr<watch> ear_;
    bool found_busy_ = false;
};

/// Until nobody holds the lock, by the acquisition loop, but beside the gate: who only looks queues
/// behind nobody. False: it was not seen free within `patience` (zero or less: one look). Fails as
/// an acquisition does. The executor only.
asio::awaitable<bool> wait_until_free(std::shared_ptr<const subject>, duration patience);

/// The same of a call that takes nothing, and which others may cancel: it completes without a hold
/// when the lock was seen free, and when its time is over.
asio::awaitable<void> look_out(std::shared_ptr<acquisition>);

} // namespace holdfast::sync
