// SPDX-License-Identifier: Apache-2.0
#include "bench/renewal/many_leases.hpp"

#include <holdfast/mutex.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <exception>

namespace holdfast::bench {
namespace {

using namespace std::chrono_literals;
constexpr int in_flight = 512;
// Long, so that the checks need little CPU time of the client's thread.
constexpr auto between_looks = 200ms;

} // namespace

many_leases::many_leases(const arena& where, int count)
    : client_{loop_.get_executor(), options{.url = where.url(), .executor_is_serial = true}}
    , count_{count} {}

many_leases::~many_leases() {
    leases_.clear();
    client_.async_close([this](error_code) { loop_.stop(); });
    loop_.restart();
    loop_.run();
}

void many_leases::take() {
    leases_.resize(static_cast<std::size_t>(count_));
    for_each(&many_leases::take_one);
}

void many_leases::release() {
    for_each(&many_leases::release_one);
    leases_.clear();
}

bool many_leases::are_held() const {
    return std::all_of(leases_.begin(), leases_.end(),
                       [](const lease& held) { return held.owns_lock(); });
}

void many_leases::keep_until(const std::function<bool()>& over) {
    loop_.restart();
    while (!over())
        loop_.run_for(between_looks);
}

void many_leases::for_each(asio::awaitable<void> (many_leases::*step)(int)) {
    std::exception_ptr failure;
    int left = in_flight;
    for (int first = 0; first < in_flight; ++first)
        asio::co_spawn(loop_, every_nth(step, first), [&](std::exception_ptr e) {
            if (e)
                failure = e;
            if (--left == 0)
                loop_.stop(); // needed because the client always has a pending read
        });
    loop_.restart();
    loop_.run();
    if (failure)
        std::rethrow_exception(failure);
}

asio::awaitable<void> many_leases::every_nth(asio::awaitable<void> (many_leases::*step)(int),
                                             int first) {
    for (int i = first; i < count_; i += in_flight)
        co_await (this->*step)(i);
}

/// Takes a lock and keeps only its lease. The lock object may be destroyed while the lock is held.
asio::awaitable<void> many_leases::take_one(int i) {
    mutex lock{client_, name_of_lock(i)};
    leases_[i] = co_await lock.async_lock(asio::use_awaitable);
}

asio::awaitable<void> many_leases::release_one(int i) {
    co_await leases_[i].async_unlock(asio::use_awaitable);
}

} // namespace holdfast::bench
