// SPDX-License-Identifier: Apache-2.0
// Simulated network between the clients and the modelled server: events at simulated times, the
// process of a client (which can be stopped), and the client's connections (`simulated_node`).
#pragma once

#include "redis/node.hpp"
#include "server.hpp"
#include "sim/dice.hpp"
#include "support/clocks.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::handing {

/// Functions that run at simulated times.
class schedule {
public:
    schedule(asio::io_context&, sim::sim_clock&);
    schedule(const schedule&) = delete;

    void at(time_point when, std::function<void()> act);
    void after(duration delay, std::function<void()> act) {
        at(clock_.now() + delay, std::move(act));
    }
    void clear() { due_.clear(); }

private:
    asio::awaitable<void> run();

    sim::sim_clock& clock_;
    std::shared_ptr<alarm> wake_;
    std::multimap<time_point, std::function<void()>> due_;
};

/// Process of a client. While it is stopped, it runs nothing, like a process after SIGSTOP.
class process {
public:
    explicit process(asio::io_context& io)
        : io_{io} {}
    process(const process&) = delete;

    void stop() { is_stopped_ = true; }
    void resume();
    bool is_stopped() const { return is_stopped_; }
    void clear() { waiting_.clear(); }

    template <typename Function>
    void run(Function&& what) {
        auto kept = std::make_shared<std::decay_t<Function>>(std::forward<Function>(what));
        io_.get_executor().execute([this, kept] {
            if (is_stopped_)
                waiting_.push_back([kept] { (*kept)(); });
            else
                (*kept)();
        });
    }
    asio::any_io_executor executor(asio::execution_context& services);

    const asio::io_context::executor_type inner() const { return io_.get_executor(); }

private:
    asio::io_context& io_;
    bool is_stopped_ = false;
    std::vector<std::function<void()>> waiting_;
};

/// Executor of a process. Its services are in a context that never runs.
class process_executor {
    template <typename Property>
    static constexpr bool is_context =
        std::is_same_v<Property, asio::execution::context_as_t<asio::execution_context&>>;
    using inner_executor = asio::io_context::executor_type;

public:
    process_executor(process& of, asio::execution_context& services)
        : of_{&of}
        , services_{&services} {}
    bool operator==(const process_executor&) const noexcept = default;

    asio::execution_context& query(asio::execution::context_t) const noexcept { return *services_; }
    template <typename Property>
    requires(asio::can_query_v<const inner_executor&, Property> &&
             !is_context<Property>) decltype(auto) query(const Property& wanted) const noexcept {
        return asio::query(of_->inner(), wanted);
    }
    template <typename Property>
    requires asio::can_require_v<const inner_executor&, Property>
        process_executor require(const Property&)
    const { return *this; }
    template <typename Function>
    void execute(Function&& what) const {
        of_->run(std::forward<Function>(what));
    }

private:
    process* of_;
    asio::execution_context* services_;
};

/// Faults of a client's network. The chances are in thousandths.
struct weather {
    duration delay{1}; ///< longest delay of a request, a reply or a message
    int lost_requests = 0;
    int lost_replies = 0;
    int lost_messages = 0;
    int slow_requests = 0; ///< chance that a request is delayed by up to `slow`
    int slow_messages = 0;
    int repeated_messages = 0;
    duration slow{4000};
};

/// Connections of one client to the server.
class simulated_node final : public redis::node, public subscriber {
public:
    struct surroundings {
        sim::sim_clock& clock;
        schedule& events;
        server& remote;
        process& at;
        asio::any_io_executor executor;
        bool& is_down;                           ///< whether the server is down
        std::function<void(std::string)> report; ///< reports an error reply
        std::function<void()> fault;             ///< notes that something was lost or slow
    };
    simulated_node(surroundings, sim::dice, const weather&, bool direct_hand_off);
    ~simulated_node() override;

    asio::awaitable<redis::reply> call(const redis::script&, std::span<const std::string_view> keys,
                                       std::span<const redis::argument>,
                                       redis::call_options) override;
    void distrust(const redis::reply&) noexcept override {
        if (world_.report)
            world_.report("the client distrusts a reply");
    }
    std::unique_ptr<redis::hearing> hear(redis::channel_name, alarm& wake, redis::linger) override;
    bool hears(const redis::channel_name&) const override;
    duration command_timeout() const noexcept override { return duration{1000}; }
    bool direct_hand_off() const noexcept override { return direct_; }
    void close() noexcept override { is_closed_ = true; }

    void message(const std::string& channel, const std::string& text) override;

    /// Ends all connections. The client connects again after a while.
    void disconnect();
    /// Ends the subscriptions at the server, as when a client has died.
    void vanish();

private:
    class listener;
    struct channel {
        std::list<listener*> listeners{};
        bool wanted = false;
        bool told = false;
        bool missed = false;
        int unanswered = 0;
        int generation = 0; ///< number of times that the channel was left by its last listener
    };
    struct flight {
        bool is_done = false;
        bool is_broken = false;
        redis::reply answer{};
        std::shared_ptr<alarm> wake{};
    };
    struct connection {
        std::shared_ptr<runtime::remote_clock> clock = std::make_shared<runtime::remote_clock>();
        time_point last_arrival{}; ///< arrival of the last request
        time_point last_reply{};
    };

    server::words text_of(std::span<const redis::argument>) const;
    duration delay(int slow_chance);
    void connect();
    void tell(const std::string& name, bool subscribe);
    void answered(const std::string& name);
    bool confirmed(const std::string& name) const;
    void leave(const std::string& name, listener&, redis::linger);
    void deliver(const std::string& name, const std::string& text);
    void in_process(std::function<void()>);

    surroundings world_;
    sim::dice dice_;
    const weather& weather_;
    const bool direct_;
    bool is_closed_ = false;
    bool is_dead_ = false;
    connection command_;
    std::map<std::string, channel> channels_;
    std::list<std::weak_ptr<flight>> flights_;
    time_point last_subscription_{};
    time_point last_message_{};
    int subscriptions_ = 0; ///< number of the subscriber connection
    std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

} // namespace holdfast::handing
