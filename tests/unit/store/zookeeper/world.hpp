// SPDX-License-Identifier: Apache-2.0
// Clients and stores at a ZooKeeper ensemble in memory. The simulated time moves only when nothing
// else can happen.
#pragma once

#include "store/zookeeper/zookeeper_store.hpp"
#include "support/clocks.hpp"
#include "support/recorder.hpp"
#include "support/zookeeper_model.hpp"

#include <holdfast/client.hpp>
#include <holdfast/mutex.hpp>
#include <holdfast/shared_mutex.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <array>
#include <cstdint>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace holdfast::zookeeper {

using namespace std::chrono_literals;
using support::said;
using support::zookeeper_call;
using support::zookeeper_fate;
using support::zookeeper_model;

class world : public testing::Test {
protected:
    /// One store, and the faults of its requests.
    class party {
        world& in_;

    public:
        party(world& in, int number, options how)
            : in_{in} {
            client_[0] = static_cast<std::uint8_t>(number);
            client_[6] = 0x8f;
            client_[7] = 0xd5;
            store_context context{
                in.io.get_executor(), in.clock, [] { return 0; }, client_, "party", 10s,
                [](const event&) {}};
            context.revalidate = [this](const auto&, bool) { ++doubts; };
            auto faults = [this](const zookeeper_call& call) { return meet(call); };
            auto session = in.model.connect(context, faults);
            at = session.get();
            store.emplace(std::move(session), std::move(context), how);
        }
        party(const party&) = delete;

        owner_id next_owner() { return {client_, ++last_number_}; }
        ask wish(const std::string& name, lock_kind kind = lock_kind::plain) {
            ask want{name, next_owner(), kind};
            want.lease_time = 30s;
            want.give_up_at = time_point::max();
            return want;
        }
        std::unique_ptr<place> line_up(ask want) {
            return store->locks().line_up(std::move(want), *wake);
        }
        answer look(place& at_place) { return in_.run(at_place.look()); }
        release_answer release(const hold& what) { return in_.run(store->locks().release(what)); }

        void plan(std::string verb, zookeeper_fate met) {
            planned_.emplace_back(std::move(verb), met);
        }

        session* at = nullptr;
        int doubts = 0;
        const std::unique_ptr<alarm> wake = in_.clock.make_alarm();
        std::optional<zookeeper_store> store;

    private:
        zookeeper_fate meet(const zookeeper_call& call) {
            for (auto each = planned_.begin(); each != planned_.end(); ++each)
                if (each->first == call.verb) {
                    const zookeeper_fate met = each->second;
                    planned_.erase(each);
                    return met;
                }
            return {};
        }

        std::array<std::uint8_t, 16> client_{};
        std::uint64_t last_number_ = 0;
        std::list<std::pair<std::string, zookeeper_fate>> planned_;
    };

    asio::io_context io;
    sim::sim_clock clock{io};
    zookeeper_model model;

    party& enter(options how = {}) {
        return parties_.emplace_back(*this, static_cast<int>(parties_.size()) + 1, std::move(how));
    }

    ~world() override {
        for (party& each : parties_)
            each.store->close();
        clock.run_for(1h);
        parties_.clear();
        clock.run_for(1h);
    }

    /// What comes of it; throws what it throws.
    template <typename T>
    T run(asio::awaitable<T> work) {
        std::optional<T> got;
        std::exception_ptr trouble;
        auto story = [](asio::awaitable<T> inner, std::optional<T>& to) -> asio::awaitable<void> {
            to = co_await std::move(inner);
        };
        bool ended = false;
        asio::co_spawn(io, story(std::move(work), got), [&](const std::exception_ptr& e) {
            trouble = e;
            ended = true;
        });
        clock.run_for(0ms);
        if (!ended)
            throw std::logic_error{"it has not ended"};
        if (trouble)
            std::rethrow_exception(trouble);
        return std::move(*got);
    }
    void run(asio::awaitable<void> work) {
        auto story = [](asio::awaitable<void> inner) -> asio::awaitable<bool> {
            co_await std::move(inner);
            co_return true;
        };
        run(story(std::move(work)));
    }
    void settle() { clock.run_for(0ms); }

    /// Whether it has rung whoever sleeps on it from here on.
    std::shared_ptr<const bool> woken_by(alarm& wake) {
        const auto woken = std::make_shared<bool>(false);
        asio::co_spawn(io, wake.wait_until(time_point::max()),
                       [woken](const std::exception_ptr&) { *woken = true; });
        settle();
        return woken;
    }

private:
    std::list<party> parties_;
};

} // namespace holdfast::zookeeper
