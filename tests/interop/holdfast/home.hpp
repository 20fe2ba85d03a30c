// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/client.hpp>
#include <holdfast/fenced_mutex.hpp>
#include <holdfast/mutex.hpp>
#include <holdfast/recursive_mutex.hpp>
#include <holdfast/spin_mutex.hpp>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/json.hpp>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

namespace holdfast::interop {

namespace json = boost::json;

/// What Redisson's getLock, getNonReentrantLock, getSpinLock and getFencedLock are here.
using any_lock = std::variant<recursive_mutex, mutex, spin_mutex, fenced_mutex>;

/// One client with its locks, and a loop on which asynchronous calls begin, end and are cancelled.
class home {
public:
    explicit home(options how)
        : client_{std::move(how)} {}
    ~home();
    home(const home&) = delete;

    client& get() { return client_; }
    asio::io_context& loop() { return loop_; }

    /// The same object for the same getter and name. Throws `std::invalid_argument`.
    any_lock& lock(const std::string& getter, const std::string& name);
    recursive_mutex& lock(const std::string& name) {
        return std::get<recursive_mutex>(lock("getLock", name));
    }

    /// What an actor took asynchronously and has not released, the innermost last: it belongs to
    /// no thread. The actor's calls use it, one after the other.
    std::vector<lease>& leases(const std::string& actor, const std::string& name);

private:
    asio::io_context loop_{1};
    asio::executor_work_guard<asio::io_context::executor_type> work_{loop_.get_executor()};
    client client_;
    std::mutex mutex_; // guards the maps, not what is in them
    std::map<std::pair<std::string, std::string>, std::unique_ptr<any_lock>> locks_;
    std::map<std::pair<std::string, std::string>, std::vector<lease>> leases_;
    std::thread thread_{[this] { loop_.run(); }};
};

/// `{"lease_time": 3000, "poll_bound": 60000}`
options options_of(const json::object& command);

} // namespace holdfast::interop
