// SPDX-License-Identifier: Apache-2.0
#include "mysql/library.hpp"

#include "mysql/tls_guard.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>

#include <mysql.h>
#include <signal.h>

namespace holdfast::mysql {
namespace {

/// Longest time that the exit of the process waits for threads inside libmariadb. An address lookup
/// can take longer. That is safe, because a thread does not use OpenSSL during the lookup.
constexpr std::chrono::seconds patience_at_exit{3};

/// Counter of the threads inside libmariadb. It is created after OpenSSL was initialised, so its
/// destructor runs before OpenSSL is cleaned up.
class threads_inside {
public:
    ~threads_inside() {
        std::unique_lock guard{mutex_};
        gone_.wait_for(guard, patience_at_exit, [this] { return count_ == 0; });
    }
    void enter() {
        const std::scoped_lock guard{mutex_};
        ++count_;
    }
    void leave() {
        const std::scoped_lock guard{mutex_};
        if (--count_ == 0)
            gone_.notify_all();
    }

private:
    std::mutex mutex_;
    std::condition_variable gone_;
    int count_ = 0;
};

threads_inside& threads() {
    static threads_inside all;
    return all;
}

void prepare_once() {
    struct sigaction before {};
    ::sigaction(SIGPIPE, nullptr, &before);
    mysql_server_init(0, nullptr, nullptr);
    ::sigaction(SIGPIPE, &before, nullptr);
    // Initialises OpenSSL now. Otherwise libmariadb would initialise it at the first TLS
    // connection.
    forget_tls_errors();
    threads();
}

} // namespace

void prepare_library() {
    static std::once_flag once;
    std::call_once(once, prepare_once);
}

inside_library::inside_library() noexcept {
    threads().enter();
}

inside_library::~inside_library() {
    threads().leave();
}

} // namespace holdfast::mysql
