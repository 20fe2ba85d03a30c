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

/// First pause between two polls for one waiter. Each pause is a quarter longer than the pause
/// before.
constexpr duration shortest_pause{5};
constexpr duration longest_pause{100};
constexpr duration pause_of_called{250};

/// Each poll includes the waiters that become due within this time.
constexpr duration slack{10};

/// Maximum number of waiters in one SELECT. Further waiters are in the next SELECT.
constexpr std::size_t asked_at_once = 200;

} // namespace

/// State that the poller shares with its loop. The loop may live slightly longer than the poller.
class poller::list : public std::enable_shared_from_this<poller::list> {
public:
    explicit list(site& at)
        : at_{at}
        , sleep_{at.context.time.make_alarm()} {}

    std::uint64_t add(std::string condition, alarm& wake, pace how) {
        const duration pause = how == pace::often ? shortest_pause : pause_of_called;
        waiters_.emplace(
            ++last_, waiter{std::move(condition), &wake, pause, at_.context.time.now() + pause});
        if (std::exchange(running_, true))
            sleep_->ring();
        else
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
    struct waiter {
        std::string condition;
        alarm* wake;
        duration pause;
        time_point due;
    };

    static asio::awaitable<void> loop(std::shared_ptr<list> self) {
        while (!self->stopped_ && !self->waiters_.empty()) {
            co_await self->sleep_->wait_until(self->next_due());
            if (self->stopped_)
                break;
            const std::vector<std::uint64_t> due = self->take_due();
            if (!due.empty())
                co_await self->poll(due);
        }
        self->running_ = false;
    }

    time_point next_due() const {
        time_point first = time_point::max();
        for (const auto& [number, each] : waiters_)
            first = std::min(first, each.due);
        return first;
    }

    /// Returns the waiters that are due now. Returns an empty list if a new waiter woke the loop.
    std::vector<std::uint64_t> take_due() {
        std::vector<std::uint64_t> due;
        const time_point now = at_.context.time.now();
        if (next_due() > now)
            return due;
        for (auto& [number, each] : waiters_) {
            if (each.due > now + slack || due.size() == asked_at_once)
                continue;
            due.push_back(number);
            each.due = now + jittered(each.pause);
            if (each.pause < longest_pause)
                each.pause = std::min(longest_pause, each.pause * 5 / 4 + duration{1});
        }
        return due;
    }

    /// Shortens the pause at random by up to a fifth. Otherwise all clients would poll at the same
    /// time.
    duration jittered(duration full) {
        const auto fifth = static_cast<std::uint64_t>(full.count()) / 5;
        return full - duration{static_cast<duration::rep>(at_.context.random() % (fifth + 1))};
    }

    asio::awaitable<void> poll(std::vector<std::uint64_t> due) {
        const std::string select = asking(due);
        const auto make = [&](const runtime::remote_clock&, const server_facts&) {
            return std::vector<std::string>{select};
        };
        composing text{make};
        try {
            const answers said = co_await at_.server.run(text);
            for (const auto& row : answer_at(said, 0).rows)
                ring(static_cast<std::uint64_t>(number_at(row, 0)));
        } catch (const boost::system::system_error&) {
            // Ignore the failure here. Each waiter also makes attempts itself, and its attempts
            // report the failure.
            for (auto& [number, each] : waiters_)
                each.pause = std::max(each.pause, longest_pause);
        }
    }

    std::string asking(const std::vector<std::uint64_t>& due) const {
        std::string all;
        for (const std::uint64_t number : due)
            all.append(all.empty() ? "SELECT " : " UNION ALL SELECT ")
                .append(std::to_string(number))
                .append(" FROM DUAL WHERE ")
                .append(waiters_.at(number).condition);
        return all;
    }

    void ring(std::uint64_t number) {
        if (const auto found = waiters_.find(number); found != waiters_.end())
            found->second.wake->ring();
    }

    site& at_;
    const std::unique_ptr<alarm> sleep_;
    std::map<std::uint64_t, waiter> waiters_;
    std::uint64_t last_ = 0;
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

std::unique_ptr<watch> poller::enrol(std::string condition, alarm& wake, pace how) {
    return std::make_unique<entry>(list_, list_->add(std::move(condition), wake, how));
}

void poller::stop() noexcept {
    list_->stop();
}

} // namespace holdfast::mysql
