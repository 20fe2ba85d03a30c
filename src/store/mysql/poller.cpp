// SPDX-License-Identifier: Apache-2.0
#include "store/mysql/poller.hpp"

#include "runtime/background.hpp"

#include <boost/system/system_error.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace holdfast::mysql {
namespace {

/// Between two polls. It grows by a quarter each time, and begins anew with each new waiter.
constexpr duration shortest_pause{5};
constexpr duration longest_pause{100};

/// Waiters in one SELECT: more are asked about in the next.
constexpr std::size_t asked_at_once = 200;

} // namespace

/// Shared with the loop, which may outlive the poller by a moment.
class poller::list : public std::enable_shared_from_this<poller::list> {
public:
    struct waiter {
        std::string condition;
        alarm* wake;
    };

    explicit list(site& at)
        : at_{at}
        , sleep_{at.context.time.make_alarm()} {}

    std::uint64_t add(std::string condition, alarm& wake) {
        waiters_.emplace(++last_, waiter{std::move(condition), &wake});
        pause_ = shortest_pause;
        if (std::exchange(running_, true)) {
            sleep_->ring();
            return last_;
        }
        runtime::run_in_background(at_.context, loop(shared_from_this()));
        return last_;
    }

    void remove(std::uint64_t number) { waiters_.erase(number); }

    void stop() noexcept {
        stopped_ = true;
        waiters_.clear();
        sleep_->ring();
    }

private:
    static asio::awaitable<void> loop(std::shared_ptr<list> self) {
        while (!self->stopped_ && !self->waiters_.empty()) {
            const duration pause = self->next_pause();
            co_await self->sleep_->wait_until(self->at_.context.time.now() + pause);
            if (!self->stopped_ && !self->waiters_.empty())
                co_await self->poll();
        }
        self->running_ = false;
    }

    /// Up to a fifth less, so that clients do not all ask at the same moments.
    duration next_pause() {
        const duration full = pause_;
        pause_ = std::min(longest_pause, pause_ + std::max(pause_ / 4, duration{1}));
        const auto fifth = static_cast<std::uint64_t>(full.count()) / 5;
        return full -
               duration{static_cast<duration::rep>(at_.context.random() % (fifth + 1))};
    }

    asio::awaitable<void> poll() {
        const auto make = [this](const runtime::remote_clock&, const server_facts&) {
            return std::vector<std::string>{next_select()};
        };
        composing text{make};
        try {
            const answers said = co_await at_.server.run(text);
            for (const auto& row : answer_at(said, 0).rows)
                ring(static_cast<std::uint64_t>(number_at(row, 0)));
        } catch (const boost::system::system_error&) {
            pause_ = longest_pause; // waiters ask by themselves, too, and are told why it fails
        }
    }

    std::string next_select() {
        std::string all;
        auto next = waiters_.upper_bound(asked_);
        for (std::size_t i = 0; i < std::min(asked_at_once, waiters_.size()); ++i, ++next) {
            if (next == waiters_.end())
                next = waiters_.begin();
            all.append(all.empty() ? "SELECT " : " UNION ALL SELECT ")
                .append(std::to_string(next->first))
                .append(" FROM DUAL WHERE ")
                .append(next->second.condition);
            asked_ = next->first;
        }
        return all;
    }

    void ring(std::uint64_t number) {
        if (const auto found = waiters_.find(number); found != waiters_.end())
            found->second.wake->ring();
    }

    site& at_;
    const std::unique_ptr<alarm> sleep_;
    std::map<std::uint64_t, waiter> waiters_;
    std::uint64_t last_ = 0, asked_ = 0;
    duration pause_ = shortest_pause;
    bool running_ = false, stopped_ = false;
};

class poller::entry final : public watch {
public:
    entry(std::shared_ptr<list> of, std::uint64_t number)
        : of_{std::move(of)}
        , number_{number} {}
    ~entry() override { of_->remove(number_); }

private:
    const std::shared_ptr<list> of_;
    const std::uint64_t number_;
};

poller::poller(site& at)
    : list_{std::make_shared<list>(at)} {}

poller::~poller() {
    stop();
}

std::unique_ptr<watch> poller::enrol(std::string condition, alarm& wake) {
    return std::make_unique<entry>(list_, list_->add(std::move(condition), wake));
}

void poller::stop() noexcept {
    list_->stop();
}

} // namespace holdfast::mysql
