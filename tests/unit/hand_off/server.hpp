// SPDX-License-Identifier: Apache-2.0
// Model of a Redis server that runs the real scripts in simulated time. It knows the commands that
// the scripts of a mutex use.
#pragma once

#include "redis/client/resp.hpp"
#include "sim/dice.hpp"
#include "support/clocks.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct lua_State;

namespace holdfast::handing {

/// Subscriber connection of a client, as the server sees it.
class subscriber {
public:
    virtual void message(const std::string& channel, const std::string& text) = 0;

protected:
    ~subscriber() = default;
};

class server {
public:
    using words = std::vector<std::string>;

    /// Content of one key.
    struct value {
        enum class type { text, hash, sorted_set } is = type::text;
        std::string text{};
        std::map<std::string, std::string> hash{};
        std::map<std::string, double> sorted_set{};
        std::optional<std::int64_t> expires{}; ///< ms of this server's clock
    };
    using content = std::map<std::string, value>;

    /// `rate` is the speed of the server's clock, relative to the simulated clock. `start` is the
    /// time in microseconds that the server's clock shows at first.
    server(const sim::sim_clock&, sim::dice, double rate, std::int64_t start);
    server(const server&) = delete;
    ~server();

    /// Runs one script to its end.
    redis::reply run(const redis::script&, const words& keys, const words& arguments);

    /// Returns the only field of the hash, or an empty text if the key does not exist.
    std::string holder(const std::string& name);
    content& data();                     ///< without expired keys
    void replace(content);               ///< ends all subscriptions, too
    void set_clock(std::int64_t micros); ///< steps the clock, as a new machine does
    std::int64_t time() const { return now_; }

    // The order of the subscribers is that of their subscriptions, so a seed always plays the same.
    void subscribe(subscriber& who, const std::string& channel) {
        unsubscribe(who, channel);
        channels_[channel].push_back(&who);
    }
    void unsubscribe(subscriber& who, const std::string& channel) {
        std::erase(channels_[channel], &who);
    }
    void unsubscribe_all(subscriber& who);

    /// Returns the number of connections that are subscribed to the channel.
    std::size_t subscribers(const std::string& channel) const;
    /// Returns the remaining TTL of the key in ms, or 0 if it does not exist or has no TTL.
    std::int64_t left(const std::string& key);

    /// Replaces `from` by `to` in a script, to plant a fault.
    struct edit {
        std::string script, from, to;
    };
    void plant(const edit* fault) { fault_ = fault; }

    std::function<void(std::string_view script)> ran; ///< called after each script
    std::size_t scripts_run = 0;

private:
    static int call(lua_State*);
    static int pcall(lua_State*);
    static int error_reply(lua_State*);
    static int command(lua_State*, bool raises);
    redis::reply evaluate(const redis::script&);
    redis::reply execute(const words&);
    redis::reply publish(const words&);
    redis::reply count_subscribers(const words&);
    std::optional<redis::reply> execute_on_key(const std::string& name, const words&);
    redis::reply execute_on_hash(const std::string& name, const words&);
    redis::reply execute_on_sorted_set(const std::string& name, const words&);
    value* find(const std::string& key, value::type, bool create, redis::reply& refused);
    void remove_if_empty(const std::string& key);
    void advance();
    void expire();

    const edit* fault_ = nullptr;
    const sim::sim_clock& clock_;
    sim::dice dice_;
    const double rate_;
    std::int64_t base_; // the server's clock at `since_`
    time_point since_;
    std::int64_t now_ = 0; // µs, constant while a script runs
    content data_;
    std::map<std::string, std::vector<subscriber*>> channels_;
    std::map<std::string, int> loaded_; // references to compiled scripts
    struct closes {
        void operator()(lua_State*) const noexcept;
    };
    std::unique_ptr<lua_State, closes> lua_;
};

} // namespace holdfast::handing
