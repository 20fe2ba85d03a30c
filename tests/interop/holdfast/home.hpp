// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/client.hpp>
#include <holdfast/counting_semaphore.hpp>
#include <holdfast/fair_mutex.hpp>
#include <holdfast/fenced_mutex.hpp>
#include <holdfast/latch.hpp>
#include <holdfast/leased_semaphore.hpp>
#include <holdfast/multi_mutex.hpp>
#include <holdfast/mutex.hpp>
#include <holdfast/quorum_mutex.hpp>
#include <holdfast/rate_limiter.hpp>
#include <holdfast/recursive_mutex.hpp>
#include <holdfast/shared_mutex.hpp>
#include <holdfast/spin_mutex.hpp>
#include <holdfast/token_mutex.hpp>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/json.hpp>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

namespace holdfast::interop {

namespace json = boost::json;

/// What Redisson's getters make is here, and what other programs' locks are.
using any_lock = std::variant<recursive_mutex, mutex, spin_mutex, fenced_mutex, fair_mutex,
                              shared_mutex, token_mutex, multi_mutex, quorum_mutex>;

/// A permit-expirable semaphore, and what this client holds of it, by the first id: calls name ids.
struct leased_seats {
    leased_seats(client& at, const std::string& name)
        : all{at, name} {}

    leased_semaphore all;
    std::mutex mutex{}; // guards what follows
    std::map<std::string, lease> held{};
};

using any_counter = std::variant<counting_semaphore, latch, leased_seats, rate_limiter>;

/// How a client shall be, and its fair locks.
struct home_settings {
    options client;
    fair_options fair;
};

/// One client with its locks, and a loop on which asynchronous calls begin, end and are cancelled.
class home {
public:
    explicit home(home_settings how)
        : fair_{how.fair}
        , client_{std::move(how.client)} {}
    ~home();
    home(const home&) = delete;

    client& get() { return client_; }
    asio::io_context& loop() { return loop_; }

    /// The same object for the same getter and name. Throws `std::invalid_argument`.
    any_lock& lock(const std::string& getter, const std::string& name);

    any_counter& counter(const std::string& getter, const std::string& name);

    /// From now on this getter and name mean that lock.
    void keep(const std::string& getter, const std::string& name, std::unique_ptr<any_lock>);

    /// What a getter or a path makes: "getReadWriteLock/readLock" is one side of such a lock.
    basic_mutex& side(const std::string& path, const std::string& name);

    /// What an actor took asynchronously and has not released, the innermost last: it belongs to
    /// no thread. The actor's calls use it, one after the other.
    std::vector<lease>& leases(const std::string& actor, const std::string& path,
                               const std::string& name);

private:
    asio::io_context loop_{1};
    asio::executor_work_guard<asio::io_context::executor_type> work_{loop_.get_executor()};
    const fair_options fair_;
    client client_;
    std::mutex mutex_; // guards the maps, not what is in them
    std::map<std::pair<std::string, std::string>, std::unique_ptr<any_lock>> locks_;
    std::map<std::pair<std::string, std::string>, std::unique_ptr<any_counter>> counters_;
    std::map<std::tuple<std::string, std::string, std::string>, std::vector<lease>> leases_;
    std::thread thread_{[this] { loop_.run(); }};
};

/// One of the locks that are members of a combined lock.
struct part {
    home& at;
    std::string getter, name;
};

/// Returns the combined lock of "getMultiLock" or "getRedLock" with these members.
std::unique_ptr<any_lock> combined(const std::string& getter, const std::vector<part>&);

/// `{"lease_time": 3000, "poll_bound": 60000}`
home_settings settings_of(const json::object& command);

} // namespace holdfast::interop
