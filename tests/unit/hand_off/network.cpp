// SPDX-License-Identifier: Apache-2.0
#include "network.hpp"

#include <holdfast/error.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>

namespace holdfast::handing {

schedule::schedule(asio::io_context& io, sim::sim_clock& clock)
    : clock_{clock}
    , wake_{clock.make_alarm()} {
    asio::co_spawn(io, run(), asio::detached);
}

void schedule::at(time_point when, std::function<void()> act) {
    due_.emplace(when, std::move(act));
    wake_->ring();
}

asio::awaitable<void> schedule::run() {
    const std::shared_ptr<alarm> wake = wake_;
    for (;;) {
        while (!due_.empty() && due_.begin()->first <= clock_.now()) {
            const std::function<void()> act = std::move(due_.begin()->second);
            due_.erase(due_.begin());
            act();
        }
        co_await wake->wait_until(due_.empty() ? time_point::max() : due_.begin()->first);
    }
}

void process::resume() {
    is_stopped_ = false;
    for (std::function<void()>& each : std::exchange(waiting_, {}))
        run(std::move(each));
}

asio::any_io_executor process::executor(asio::execution_context& services) {
    return process_executor{*this, services};
}

/// Subscription of one waiter.
class simulated_node::listener final : public redis::hearing {
public:
    listener(simulated_node& home, std::string name, alarm& wake, redis::linger how)
        : home_{home}
        , name_{std::move(name)}
        , wake_{wake}
        , how_{how}
        , settled_{home.world_.clock.make_alarm()} {}
    ~listener() override { home_.leave(name_, *this, how_); }

    asio::awaitable<bool> confirmed(time_point limit) override {
        while (!home_.confirmed(name_) && home_.world_.clock.now() < limit)
            co_await settled_->wait_until(limit);
        co_return home_.confirmed(name_);
    }
    std::string_view last_message() const override { return last_message_; }

    void message(const std::string& text) {
        last_message_ = text;
        wake_.ring();
    }
    void confirm(bool missed) {
        settled_->ring();
        if (missed)
            wake_.ring();
    }

private:
    simulated_node& home_;
    const std::string name_;
    alarm& wake_;
    const redis::linger how_;
    std::unique_ptr<alarm> settled_;
    std::string last_message_{};
};

simulated_node::simulated_node(surroundings world, sim::dice dice, const weather& at, bool direct)
    : world_{std::move(world)}
    , dice_{dice}
    , weather_{at}
    , direct_{direct} {}

simulated_node::~simulated_node() {
    world_.remote.unsubscribe_all(*this);
}

duration simulated_node::delay(int slow_chance) {
    if (slow_chance > 0 && dice_.between(0, 999) < slow_chance) {
        world_.fault();
        return dice_.between(duration{1}, weather_.slow);
    }
    return dice_.between(duration{0}, weather_.delay);
}

/// Runs a function in the client's process, unless the client has been destroyed.
void simulated_node::in_process(std::function<void()> act) {
    asio::post(world_.executor, [act = std::move(act), alive = std::weak_ptr{alive_}] {
        if (!alive.expired())
            act();
    });
}

server::words simulated_node::text_of(std::span<const redis::argument> all) const {
    server::words words;
    for (const redis::argument& each : all) {
        if (const auto* text = std::get_if<std::string_view>(&each))
            words.emplace_back(*text);
        else if (const auto* number = std::get_if<std::int64_t>(&each))
            words.push_back(std::to_string(*number));
        else {
            const auto at =
                command_.clock->no_later_than(std::get<redis::server_deadline>(each).at);
            words.push_back(std::to_string(at ? at->count() : 0));
        }
    }
    return words;
}

void simulated_node::connect() {
    command_ = connection{};
}

asio::awaitable<redis::reply> simulated_node::call(const redis::script& what,
                                                   std::span<const std::string_view> keys,
                                                   std::span<const redis::argument> arguments,
                                                   redis::call_options options) {
    if (is_closed_)
        throw boost::system::system_error{make_error_code(errc::closed)};
    if (options.elsewhere)
        connect();
    const time_point sent_at = world_.clock.now();
    const time_point limit = std::min(sent_at + command_timeout(), options.answer_by);
    const auto trip = std::make_shared<flight>();
    trip->wake = world_.clock.make_alarm();
    std::erase_if(flights_, [](const auto& each) { return each.expired(); });
    flights_.push_back(trip);

    const std::shared_ptr<runtime::remote_clock> clock = command_.clock;
    const time_point arrival =
        std::max(command_.last_arrival, sent_at + delay(weather_.slow_requests));
    command_.last_arrival = arrival;
    const bool is_lost = dice_.between(0, 999) < weather_.lost_requests;
    const bool loses_reply = dice_.between(0, 999) < weather_.lost_replies;
    const duration back = delay(weather_.slow_requests);
    if (is_lost || loses_reply)
        world_.fault();
    if (!is_lost) {
        // The node may be destroyed before the request arrives.
        auto arrives = [&remote = world_.remote, &is_down = world_.is_down, script = &what, trip,
                        all_keys = server::words{keys.begin(), keys.end()},
                        words = text_of(arguments), loses_reply, back, this,
                        alive = std::weak_ptr{alive_}] {
            if (is_down)
                return;
            const redis::reply said = remote.run(*script, all_keys, words);
            if (alive.expired())
                return;
            if (said.type == redis::reply::kind::error)
                world_.report(said.text);
            if (loses_reply)
                return;
            const time_point when = std::max(command_.last_reply, world_.clock.now() + back);
            command_.last_reply = when;
            world_.events.at(when, [this, trip, said, alive] {
                if (alive.expired())
                    return;
                in_process([trip, said] {
                    trip->answer = said;
                    trip->is_done = true;
                    trip->wake->ring();
                });
            });
        };
        world_.events.at(arrival, std::move(arrives));
    }
    while (!trip->is_done && !trip->is_broken && world_.clock.now() < limit)
        co_await trip->wake->wait_until(limit);
    if (!trip->is_done) {
        if (command_.clock == clock)
            connect();
        throw boost::system::system_error{make_error_code(errc::outcome_unknown)};
    }
    if (trip->answer.type == redis::reply::kind::error)
        throw boost::system::system_error{make_error_code(store_errc::protocol), trip->answer.text};
    redis::reply answer = std::move(trip->answer);
    answer.sent_at = sent_at;
    answer.received_at = world_.clock.now();
    answer.clock = clock;
    co_return answer;
}

std::unique_ptr<redis::hearing> simulated_node::hear(redis::channel_name name, alarm& wake,
                                                     redis::linger how) {
    auto made = std::make_unique<listener>(*this, name.text, wake, how);
    channel& at = channels_[name.text];
    at.listeners.push_back(made.get());
    ++at.generation;
    if (!std::exchange(at.wanted, true))
        tell(name.text, true);
    return made;
}

bool simulated_node::hears(const redis::channel_name& name) const {
    return confirmed(name.text);
}

bool simulated_node::confirmed(const std::string& name) const {
    const auto found = channels_.find(name);
    return found != channels_.end() && found->second.wanted && found->second.told &&
           found->second.unanswered == 0;
}

void simulated_node::leave(const std::string& name, listener& who, redis::linger how) {
    channel& at = channels_[name];
    at.listeners.remove(&who);
    const int generation = ++at.generation;
    if (!at.listeners.empty())
        return;
    auto end = [this, name, generation, alive = std::weak_ptr{alive_}] {
        if (alive.expired())
            return;
        channel& now = channels_[name];
        if (now.generation != generation || !now.wanted)
            return;
        now.wanted = false;
        tell(name, false);
    };
    if (how == redis::linger::none)
        end();
    else
        world_.events.after(duration{5000}, [this, end, alive = std::weak_ptr{alive_}] {
            if (!alive.expired())
                in_process(end);
        });
}

/// Sends SUBSCRIBE or UNSUBSCRIBE. The commands of one connection arrive in order.
void simulated_node::tell(const std::string& name, bool subscribe) {
    channel& at = channels_[name];
    at.told = subscribe;
    ++at.unanswered;
    last_subscription_ =
        std::max(last_subscription_, world_.clock.now() + delay(weather_.slow_messages));
    const duration back = delay(weather_.slow_messages);
    const int number = subscriptions_;
    world_.events.at(
        last_subscription_, [this, name, subscribe, back, number, alive = std::weak_ptr{alive_}] {
            if (alive.expired() || number != subscriptions_ || is_dead_ || world_.is_down)
                return;
            if (subscribe)
                world_.remote.subscribe(*this, name);
            else
                world_.remote.unsubscribe(*this, name);
            last_message_ = std::max(last_message_, world_.clock.now() + back);
            world_.events.at(last_message_, [this, name, number, alive] {
                if (!alive.expired())
                    in_process([this, name, number] {
                        if (number == subscriptions_)
                            answered(name);
                    });
            });
        });
}

void simulated_node::answered(const std::string& name) {
    channel& at = channels_[name];
    --at.unanswered;
    if (!confirmed(name))
        return;
    const bool missed = std::exchange(at.missed, false);
    for (listener* const each : std::list<listener*>{at.listeners})
        each->confirm(missed);
}

void simulated_node::message(const std::string& name, const std::string& text) {
    const auto send = [&](time_point when) {
        world_.events.at(when, [this, name, text, alive = std::weak_ptr{alive_}] {
            if (!alive.expired())
                in_process([this, name, text] { deliver(name, text); });
        });
    };
    if (dice_.between(0, 999) < weather_.lost_messages) {
        world_.fault();
        return;
    }
    last_message_ = std::max(last_message_, world_.clock.now() + delay(weather_.slow_messages));
    send(last_message_);
    if (dice_.between(0, 999) < weather_.repeated_messages)
        send(last_message_ + dice_.between(duration{0}, weather_.slow));
}

void simulated_node::deliver(const std::string& name, const std::string& text) {
    const auto found = channels_.find(name);
    if (found == channels_.end())
        return;
    for (listener* const each : std::list<listener*>{found->second.listeners})
        each->message(text);
}

void simulated_node::vanish() {
    is_dead_ = true;
    world_.remote.unsubscribe_all(*this);
}

void simulated_node::disconnect() {
    world_.remote.unsubscribe_all(*this);
    world_.fault();
    const int number = ++subscriptions_;
    in_process([this, number] {
        for (const auto& each : flights_)
            if (const auto trip = each.lock(); trip && !trip->is_done) {
                trip->is_broken = true;
                trip->wake->ring();
            }
        connect();
        for (auto& [name, each] : channels_) {
            each.told = false;
            each.unanswered = 0;
            each.missed = true;
        }
        // The client connects again, and subscribes anew.
        auto again = [this, number, alive = std::weak_ptr{alive_}] {
            if (alive.expired())
                return;
            in_process([this, number] {
                if (number != subscriptions_)
                    return;
                for (auto& [name, each] : channels_)
                    if (each.wanted && !each.told)
                        tell(name, true);
            });
        };
        // While the server is down, the subscriber number tries again later.
        world_.events.after(dice_.between(duration{1}, duration{300}),
                            [this, again, alive = std::weak_ptr{alive_}] {
                                if (!alive.expired() && !world_.is_down)
                                    again();
                            });
    });
}

} // namespace holdfast::handing
