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

/// A thread that looks up an address can take longer than this; it does not use OpenSSL yet.
constexpr std::chrono::seconds patience_at_exit{3};

/// Made after OpenSSL has begun, so that this ends before that.
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
    forget_tls_errors(); // libmariadb would begin with OpenSSL when the first connection wants it
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
