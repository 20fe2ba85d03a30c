// SPDX-License-Identifier: Apache-2.0
#include "bench/standstill/working_client.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

namespace holdfast::bench {
namespace {

using namespace std::chrono_literals;

constexpr int workers_of_a_client = 8;

} // namespace

void watched_executor::stop() {
    boost::asio::post(loop_.io(), [this] { ticker_.stop(); });
    loop_.finish();
}

working_client::working_client(const std::string& url)
    : client_{executor_.io().get_executor(), options{.url = url, .executor_is_serial = true}} {
    for (int i = 0; i < workers_of_a_client; ++i)
        workers_.push_back(asio::co_spawn(
            executor_.io(), work(locks_.emplace_back(client_, "bench:" + std::to_string(i))),
            asio::use_future));
}

working_client::~working_client() {
    is_over_ = true;
    client_.close(); // ends waits for a server that is down
    for (const auto& each : workers_)
        each.wait();
    executor_.stop();
}

asio::awaitable<void> working_client::work(mutex& lock) {
    asio::steady_timer rest{co_await asio::this_coro::executor};
    while (!is_over_) {
        error_code failed;
        auto token = asio::redirect_error(asio::use_awaitable, failed);
        lease held = co_await lock.async_lock(token);
        if (!failed)
            co_await held.async_unlock(token);
        if (!failed) {
            ++pairs_;
            continue;
        }
        rest.expires_after(5ms);
        co_await rest.async_wait(asio::use_awaitable);
    }
}

} // namespace holdfast::bench
