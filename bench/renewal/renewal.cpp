// SPDX-License-Identifier: Apache-2.0
#include "bench/renewal/renewal.hpp"

#include "bench/server/cpu_time.hpp"

#include <holdfast/mutex.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <exception>
#include <future>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>

#include <malloc.h>
#include <sys/socket.h>

namespace holdfast::bench {
namespace {

using namespace std::chrono_literals;
constexpr int in_flight = 512;
// Time between two calls of `over`, long enough to use little CPU time.
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
                loop_.stop(); // the client's pending read would keep the loop running
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

namespace {

/// Channel on which the server reports each change of a key's TTL. Grants and renewals change the
/// TTL.
constexpr std::string_view channel = "__keyevent@0__:expire";

/// Returns the lock's number from its key, or a negative number for any other key.
int lock_in(const redisReply& message) {
    const redisReply& key = *message.element[2];
    const std::string_view name{key.str, key.len};
    const std::string_view prefix = "bench:";
    int number = -1;
    if (name.starts_with(prefix))
        std::from_chars(name.data() + prefix.size(), name.data() + name.size(), number);
    return number;
}

} // namespace

watcher::watcher(const arena& where, int leases)
    : control_{where.connect()}
    , subscriber_{where.connect()}
    , leases_(static_cast<std::size_t>(leases)) {
    ask(control_, {"CONFIG", "SET", "notify-keyspace-events", "Eg"});
    ask(subscriber_, {"SUBSCRIBE", channel});
    listener_ = std::jthread{[this] { listen(); }};
}

watcher::~watcher() {
    try {
        ask(control_, {"CONFIG", "SET", "notify-keyspace-events", ""});
    } catch (const std::exception&) {
        // The server has ended, so its setting need not be reset.
    }
    ::shutdown(subscriber_->fd, SHUT_RDWR);
}

void watcher::listen() {
    for (void* raw = nullptr; redisGetReply(subscriber_.get(), &raw) == REDIS_OK && raw;) {
        const reply message{static_cast<redisReply*>(raw)};
        const int lock = message->elements == 3 ? lock_in(*message) : -1;
        if (lock >= 0 && lock < static_cast<int>(leases_.size()))
            heard(lock, stopwatch::now());
    }
}

void watcher::heard(int lease, stopwatch::time_point now) {
    seen& it = leases_[static_cast<std::size_t>(lease)];
    if (it.last != stopwatch::time_point{}) {
        longest_ = std::max(longest_.load(), nanoseconds{now - it.last}.count());
        renewed_ += it.renewed ? 0 : 1;
        it.renewed = true;
    }
    it.last = now;
}

// The measurement has two periods, and all leases are renewed once in each period. In the first
// period, the server reports each renewal, to measure the delay. The reports cost CPU time, so the
// CPU use is measured in the second period, without them.

namespace {

/// Latest time of a renewal: a third of the default lease. A renewal may come earlier by up to a
/// tenth of this time.
constexpr nanoseconds due_after = 10s;

double seconds(nanoseconds length) {
    return std::chrono::duration<double>{length}.count();
}

/// Returns the number of heap bytes in use. The number includes the allocator's overhead for each
/// block, but not free memory.
double heap_in_use() {
    const struct mallinfo2 now = ::mallinfo2();
    return static_cast<double>(now.uordblks) + static_cast<double>(now.hblkhd);
}

struct usage {
    double client, server;
};

usage used_so_far(const accounts& books) {
    return {.client = own_cpu_seconds(), .server = books.cpu_seconds()};
}

using progress = std::function<void(const char*)>;

/// Returns by how much the latest renewal came too late. The client sends each renewal earlier than
/// necessary by a random time, which is almost zero for a few of many leases. These few leases show
/// the whole delay.
nanoseconds longest_delay(many_leases& kept, const watcher& seen, int leases,
                          const progress& tell) {
    const auto deadline = stopwatch::now() + 2 * due_after;
    kept.keep_until([&] {
        tell("watching each be renewed");
        return seen.renewed() == leases || stopwatch::now() > deadline;
    });
    if (seen.renewed() != leases)
        throw std::runtime_error{"of the leases only " + std::to_string(seen.renewed()) +
                                 " were renewed in time"};
    return std::max(seen.longest_without() - due_after, 0ns);
}

/// Returns the CPU use in percent of one core, while each lease is renewed once.
usage expense(many_leases& kept, accounts& books, int leases, const progress& tell) {
    books.clear();
    const auto begin = stopwatch::now();
    const usage before = used_so_far(books);
    kept.keep_until([&] {
        tell("measuring a whole period");
        return stopwatch::now() - begin >= due_after;
    });
    const usage after = used_so_far(books);
    const double length = seconds(stopwatch::now() - begin);
    if (const auto renewed = books.leases_extended(); renewed < leases)
        throw std::runtime_error{"only " + std::to_string(renewed) + " renewals in a whole period"};
    return {.client = 100 * (after.client - before.client) / length,
            .server = 100 * (after.server - before.server) / length};
}

} // namespace

std::vector<figure> hold_vigil(const vigil& which, const arena& where, accounts& books,
                               const progress& tell) {
    many_leases kept{where, which.leases};
    const double heap_before = heap_in_use();
    nanoseconds delay{};
    {
        watcher seen{where, which.leases}; // destroyed before the heap is measured
        tell("taking the locks");
        kept.take();
        delay = longest_delay(kept, seen, which.leases, tell);
    }
    const usage used = expense(kept, books, which.leases, tell);
    const double bytes = (heap_in_use() - heap_before) / which.leases;
    if (bytes <= 0)
        throw std::runtime_error{"the allocator does not tell what is in use"};
    if (!kept.are_held() || std::ssize(books.keys()) != which.leases)
        throw std::runtime_error{"a lease was lost"};
    kept.release();
    if (!books.keys().empty())
        throw std::runtime_error{"a release left its lock behind"};
    return figures(which.name, which.wanted,
                   {{".bytes", "bytes/lease", better::lower, bytes},
                    {".client_cpu", "% of a core", better::lower, used.client},
                    {".server_cpu", "% of a core", better::lower, used.server},
                    {".delay", "ms", better::lower, 1e3 * seconds(delay)}});
}

namespace {

/// Time in which each lease is renewed once: a third of the default lease.
constexpr nanoseconds whole_period = 10s;
constexpr int periods = 3;

/// CPU use of a client and of its servers in each period, in percent of one core.
struct expenses {
    std::vector<double> client, servers;
};

/// Lets two threads begin at the same time, when both have taken all their locks. `failed` ends the
/// wait of the other thread.
struct meeting_point {
    std::atomic<int> ready{0};
    std::atomic<bool> failed{false};
    bool is_over() const { return ready == 2 || failed; }
};

/// Renews the leases for one period on the calling thread, which does nothing else.
void keep_a_period(many_leases& kept, accounts& books, int leases, expenses& all) {
    books.clear();
    const auto begin = stopwatch::now();
    const double client_before = thread_cpu_seconds(), servers_before = books.cpu_seconds();
    kept.keep_until([begin] { return stopwatch::now() - begin >= whole_period; });
    const double client = thread_cpu_seconds() - client_before;
    const double servers = books.cpu_seconds() - servers_before;
    const std::chrono::duration<double> length = stopwatch::now() - begin;
    if (const auto renewed = books.leases_extended(); renewed < leases)
        throw std::runtime_error{"only " + std::to_string(renewed) + " renewals in a whole period"};
    all.client.push_back(100 * client / length.count());
    all.servers.push_back(100 * servers / length.count());
}

expenses keep(const arena& where, accounts books, int leases, meeting_point& both) try {
    many_leases kept{where, leases};
    kept.take();
    ++both.ready;
    kept.keep_until([&] { return both.is_over(); });
    expenses all;
    for (int i = 0; i < periods && !both.failed; ++i)
        keep_a_period(kept, books, leases, all);
    if (!kept.are_held() || std::ssize(books.keys()) != leases)
        throw std::runtime_error{"a lease was lost"};
    kept.release();
    if (!books.keys().empty())
        throw std::runtime_error{"a release left its lock behind"};
    return all;
} catch (...) {
    both.failed = true;
    throw;
}

} // namespace

std::vector<figure> keep_beside_one_server(const shared_vigil& which, const arena& of_several,
                                           const arena& of_one) {
    meeting_point both;
    auto begin = [&](const arena& where) {
        return std::async(std::launch::async, [&, books = books_of(where)]() mutable {
            return keep(where, std::move(books), which.leases, both);
        });
    };
    auto ours = begin(of_several), yardstick = begin(of_one);
    const expenses several = ours.get(), one = yardstick.get();
    return figures(
        which.name, which.wanted,
        std::vector<comparison>{
            {".client_cpu", "% of a core", better::lower, several.client, one.client},
            {".server_cpu", "% of a core", better::lower, several.servers, one.servers}});
}

} // namespace holdfast::bench
