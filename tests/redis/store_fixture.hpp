// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "scripted_node.hpp"
#include "store/redis/redis_store.hpp"

#include <holdfast/error.hpp>

#include <boost/asio/co_spawn.hpp>

#include <exception>
#include <memory>
#include <optional>

#include <gmock/gmock.h>

namespace holdfast {

/// What its clock shows, in microseconds.
inline constexpr std::int64_t server_time = 1'000'000'000'000;

/// The store on a server that answers what the test says.
class on_scripted_node : public ::testing::Test {
protected:
    on_scripted_node() {
        context_.executor = io_.get_executor();
        context_.random = [] { return 0; }; // no jitter
        context_.poll_bound = duration{5'000};
    }

    /// Runs it to its end, in no time or in simulated time.
    template <typename T>
    T complete(asio::awaitable<T> work) {
        std::exception_ptr failure;
        std::optional<T> value;
        asio::co_spawn(io_, std::move(work), [&](std::exception_ptr thrown, T result) {
            failure = thrown;
            value = std::move(result);
        });
        clock_.run_until_idle();
        if (failure)
            std::rethrow_exception(failure);
        return std::move(value).value();
    }
    void complete(asio::awaitable<void> work) {
        std::exception_ptr failure;
        asio::co_spawn(io_, std::move(work), [&](std::exception_ptr thrown) { failure = thrown; });
        clock_.run_until_idle();
        if (failure)
            std::rethrow_exception(failure);
    }

    /// The code that `work` fails with.
    template <typename T>
    error_code failure_of(asio::awaitable<T> work) {
        try {
            complete(std::move(work));
        } catch (const boost::system::system_error& thrown) {
            return thrown.code();
        }
        return {};
    }

    ask want(duration timeout) const {
        ask made{lock_name{"L"}, alice_, lock_kind::plain};
        made.lease_time = duration{30'000};
        made.give_up_at = timeout == duration::max() ? time_point::max() : clock_.now() + timeout;
        return made;
    }

    asio::io_context io_;
    sim::sim_clock clock_{io_};
    scripted_node node_{clock_};
    store_context context_{io_.get_executor(), clock_, {}, {}, {}, {}, {}};
    redis::redis_locks store_{node_, context_};
    std::unique_ptr<alarm> wake_ = clock_.make_alarm();
    owner_id alice_{{}, 7};
};

} // namespace holdfast
