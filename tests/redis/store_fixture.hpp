// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/node.hpp"
#include "store/redis/redis_store.hpp"
#include "support/clocks.hpp"

#include <holdfast/error.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/system/system_error.hpp>

#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace holdfast {

/// A server that answers what the test says, in simulated time, and remembers what it was asked.
class scripted_node final : public redis::node {
public:
    struct request {
        std::string script;
        std::vector<std::string> keys;
        std::vector<std::string> words;          ///< texts and numbers among the arguments
        std::optional<time_point> deadline = {}; ///< the one that is a moment
        std::optional<time_point> deadline_of_call = {};
        time_point at{};
        redis::call_options options{};
    };
    struct outcome {
        redis::reply answer{};
        std::optional<error_code> failure{};
        duration takes{};
    };

    explicit scripted_node(clock& time)
        : time_{time} {}

    void will_answer(const std::vector<std::int64_t>& integers, duration takes = {});
    void will_fail(error_code, duration takes = {});

    static redis::reply array_of(const std::vector<std::int64_t>& integers);

    asio::awaitable<redis::reply> call(const redis::script&, std::span<const std::string_view> keys,
                                       std::span<const redis::argument>,
                                       redis::call_options) override;
    void distrust(const redis::reply&) noexcept override { ++distrusted; }
    std::unique_ptr<redis::hearing> hear(redis::channel_name, alarm& wake, redis::linger) override;
    bool hears(const redis::channel_name&) const override { return false; }
    duration command_timeout() const noexcept override { return duration{3'000}; }
    server_identity identity(std::string_view) const override { return who; }
    bool direct_hand_off() const noexcept override { return hands_off; }
    void close() noexcept override {}

    /// Until a subscription is confirmed; nothing: never.
    std::optional<duration> confirms_after = duration{5};

    /// Answers instead of what was said beforehand, if it answers at all.
    std::function<std::optional<outcome>(const request&)> decide;

    server_identity who{};
    bool hands_off = false;                           ///< see redis::node::direct_hand_off()
    std::map<std::string, std::string> last_messages; ///< by channel
    std::vector<request> asked;
    std::multimap<std::string, alarm*> listeners; ///< now, by channel
    int in_flight_max = 0;

    /// What it will answer from now on comes by another connection.
    void by_another_connection() { clock_ = std::make_shared<runtime::remote_clock>(); }

    /// Of the present connection.
    runtime::remote_clock& server_clock() { return *clock_; }
    int distrusted = 0; ///< answers

private:
    class listener;

    outcome next_outcome(const request&);

    clock& time_;
    std::deque<outcome> outcomes_;
    std::shared_ptr<runtime::remote_clock> clock_ = std::make_shared<runtime::remote_clock>();
    int in_flight_ = 0;
};

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
