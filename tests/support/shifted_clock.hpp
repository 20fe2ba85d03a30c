// SPDX-License-Identifier: Apache-2.0
// The machine's clock plus an offset. A test can let an hour pass for a client, and sleepers then
// wake.
#pragma once

#include "runtime/clock.hpp"

#include <boost/asio/post.hpp>

#include <atomic>
#include <memory>
#include <set>
#include <utility>

namespace holdfast::support {

/// Real clock that a test can move forward. Thread safety: any thread may call `now` and `shift`;
/// call all other members on the executor.
class shifted_clock final : public clock {
public:
    explicit shifted_clock(asio::any_io_executor executor)
        : executor_{executor}
        , real_{std::move(executor)} {}

    time_point now() const noexcept override { return real_.now() + ahead_.load(); }
    std::unique_ptr<alarm> make_alarm() override {
        return std::make_unique<shifted_alarm>(*this, real_.make_alarm());
    }

    /// Moves the clock forward at once. Wakes all sleepers, even if their time has not come. An
    /// alarm may wake early; the sleeper then sleeps again.
    void shift(duration by) {
        ahead_ = ahead_.load() + by;
        asio::post(executor_, [awake = awake_] {
            for (alarm* each : *awake)
                each->ring();
        });
    }

private:
    using sleepers = std::set<alarm*>;

    class shifted_alarm final : public alarm {
    public:
        shifted_alarm(const shifted_clock& clock, std::unique_ptr<alarm> real)
            : clock_{clock}
            , real_{std::move(real)} {}
        ~shifted_alarm() override { sleepers_->erase(real_.get()); }

        asio::awaitable<void> wait_until(time_point when) override {
            sleepers_->insert(real_.get());
            const bool never = when == time_point::max();
            co_await real_->wait_until(never ? when : when - clock_.ahead_.load());
            sleepers_->erase(real_.get());
        }
        void ring() noexcept override { real_->ring(); }

    private:
        const shifted_clock& clock_;
        const std::unique_ptr<alarm> real_;
        const std::shared_ptr<sleepers> sleepers_ = clock_.awake_;
    };

    const asio::any_io_executor executor_;
    runtime::real_clock real_;
    std::atomic<duration> ahead_{};
    const std::shared_ptr<sleepers> awake_ = std::make_shared<sleepers>();
};

} // namespace holdfast::support
