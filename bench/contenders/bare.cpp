// SPDX-License-Identifier: Apache-2.0
#include "bench/contenders/bare.hpp"

#include "redis/topology/slot_map.hpp"
#include "runtime/process.hpp"
#include "store/redis/names.hpp"
#include "store/redis/scripts.hpp"

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <poll.h>
#include <unistd.h>

namespace holdfast::bench {
namespace {

using namespace std::chrono_literals;
namespace scripts = redis::scripts;

constexpr auto command_timeout = 3s; // the default of holdfast

/// Throws if the script failed. Both scripts return {1, …} on success.
void expect_done(const redisReply& answer, const char* otherwise) {
    if (answer.type != REDIS_REPLY_ARRAY || answer.elements == 0 || answer.element[0]->integer != 1)
        throw std::runtime_error{otherwise};
}

} // namespace

void append_request(std::string& out, std::initializer_list<std::string_view> words) {
    const auto number = [&out](char kind, std::size_t n) {
        out += kind;
        out += std::to_string(n);
        out += "\r\n";
    };
    number('*', words.size());
    for (const std::string_view word : words) {
        number('$', word.size());
        out += word;
        out += "\r\n";
    }
}

void append_wait(std::string& out, int replicas) {
    // holdfast uses the same timeout for WAIT.
    append_request(out, {"WAIT", std::to_string(replicas), "1000"});
}

void expect_confirmed(const redisReply& answer, int replicas) {
    if (answer.type != REDIS_REPLY_INTEGER || answer.integer < replicas)
        throw std::runtime_error{"too few replicas confirmed a lock"};
}

std::string next_deadline() {
    const auto deadline = std::chrono::system_clock::now() + command_timeout;
    const auto us = std::chrono::floor<std::chrono::microseconds>(deadline.time_since_epoch());
    return std::to_string(us.count());
}

requests::requests(int lock, const connection& to, std::string_view telling)
    : name_{name_of_lock(lock)}
    , channel_{"redisson_lock__channel:{" + name_ + "}"}
    , telling_{telling} {
    ask(to, {"SCRIPT", "LOAD", scripts::lock_mutex.text});
    ask(to, {"SCRIPT", "LOAD", scripts::release_mutex.text});
}

void requests::append_lock(std::string& out) {
    owner_ = "00000000-0000-8000-8000-000000000000:" + std::to_string(++number_);
    append_request(
        out, {"EVALSHA", scripts::lock_mutex.sha1, "1", name_, lease_ms, owner_, next_deadline()});
}

void requests::append_release(std::string& out) const {
    append_request(
        out, {"EVALSHA", scripts::release_mutex.sha1, "1", name_, owner_, channel_, telling_});
}

void requests::expect_granted(const redisReply& answer) {
    expect_done(answer, "a free lock was not granted");
}

void requests::expect_released(const redisReply& answer) {
    expect_done(answer, "a lock was lost before its release");
}

set_nx_requests::set_nx_requests(int lock, const connection& to)
    : name_{name_of_lock(lock)} {
    const reply sha1 = ask(to, {"SCRIPT", "LOAD", R"(
if redis.call('get', KEYS[1]) == ARGV[1] then
    return redis.call('del', KEYS[1])
end
return 0
)"});
    release_sha1_.assign(sha1->str, sha1->len);
}

void set_nx_requests::append_lock(std::string& out) {
    token_ = "00000000-0000-8000-8000-" + std::to_string(100'000'000'000 + ++number_);
    append_request(out, {"SET", name_, token_, "NX", "PX", lease_ms});
}

void set_nx_requests::append_release(std::string& out) const {
    append_request(out, {"EVALSHA", release_sha1_, "1", name_, token_});
}

void set_nx_requests::expect_granted(const redisReply& answer) {
    if (answer.type != REDIS_REPLY_STATUS)
        throw std::runtime_error{"a free lock was not granted"};
}

void set_nx_requests::expect_released(const redisReply& answer) {
    if (answer.integer != 1)
        throw std::runtime_error{"a lock was lost before its release"};
}

namespace {

const lock_name shared{name_of_lock(0)};

} // namespace

read_requests::read_requests(int reader, const connection& to)
    : client_{"00000000-0000-8000-8000-" + std::to_string(100'000'000'000 + reader) + ":"}
    , name_{shared.text}
    , marks_{redis::writers_key(shared)}
    , timers_{redis::timer_prefix(shared)}
    , channel_{redis::shared_channel(shared).text} {
    ask(to, {"SCRIPT", "LOAD", scripts::lock_read.text});
    ask(to, {"SCRIPT", "LOAD", scripts::release_read.text});
}

void read_requests::append_lock(std::string& out) {
    owner_ = client_ + std::to_string(++number_);
    timer_ = redis::timer_key(shared, owner_);
    append_request(out, {"EVALSHA", scripts::lock_read.sha1, "3", name_, timer_, marks_, lease_ms,
                         owner_, next_deadline(), ""});
}

void read_requests::append_release(std::string& out) const {
    append_request(out, {"EVALSHA", scripts::release_read.sha1, "3", name_, timer_, marks_, owner_,
                         timers_, channel_, redis::publishing{}.command});
}

raw_line::raw_line(connection to, const std::vector<int>& locks, raw_manner how)
    : connection_{std::move(to)}
    , how_{how}
    , in_(std::size_t{64} * 1024) {
    for (const int lock : locks)
        flights_.push_back({.wire{lock, connection_, how_.telling}});
}

void raw_line::begin() {
    const auto now = stopwatch::now();
    for (flight& one : flights_)
        take_off(one, now);
}

void raw_line::take_off(flight& one, stopwatch::time_point now) {
    one.begin = now;
    one.wire.append_lock(out_);
    asked_.push_back(&one);
}

void raw_line::write_all() {
    if (out_.empty())
        return;
    if (how_.replicas > 0) {
        append_wait(out_, how_.replicas);
        asked_.push_back(nullptr);
    }
    for (std::size_t done = 0; done < out_.size();) {
        const auto written = ::write(connection_->fd, out_.data() + done, out_.size() - done);
        if (written < 0)
            throw std::runtime_error{"the connection broke while writing"};
        done += static_cast<std::size_t>(written);
    }
    out_.clear();
}

void raw_line::read_some(stopwatch::time_point end, tally& all) {
    const auto size = ::read(connection_->fd, in_.data(), in_.size());
    if (size <= 0)
        throw std::runtime_error{"the connection broke while reading"};
    redisReaderFeed(connection_->reader, in_.data(), static_cast<std::size_t>(size));
    for (reply answer; (answer = next_reply());)
        hear(*answer, end, all);
}

void raw_line::hear(const redisReply& answer, stopwatch::time_point end, tally& all) {
    expect_answer(*connection_, &answer);
    flight* const one = asked_.front();
    asked_.pop_front();
    if (!one)
        return hear_confirmation(answer, end, all);
    (one->held ? requests::expect_released : requests::expect_granted)(answer);
    if (how_.replicas > 0)
        answered_.push_back(one);
    else
        go_on(*one, end, all);
}

void raw_line::hear_confirmation(const redisReply& answer, stopwatch::time_point end, tally& all) {
    expect_confirmed(answer, how_.replicas);
    for (flight* const one : std::exchange(answered_, {}))
        go_on(*one, end, all);
}

void raw_line::go_on(flight& one, stopwatch::time_point end, tally& all) {
    one.held = !one.held;
    if (one.held) {
        one.wire.append_release(out_);
        asked_.push_back(&one);
        return;
    }
    const auto now = stopwatch::now();
    all.samples.push_back(now - one.begin);
    if (now < end)
        take_off(one, now);
}

reply raw_line::next_reply() {
    void* raw = nullptr;
    if (redisReaderGetReply(connection_->reader, &raw) != REDIS_OK)
        throw std::runtime_error{connection_->reader->errstr};
    return reply{static_cast<redisReply*>(raw)};
}

// Comparison program for blocking calls. Each thread has its own socket, writes a request, and
// sleeps in read() until the reply arrives. No blocking library can be faster.

namespace {

template <typename Requests>
class caller {
public:
    /// `replicas` is the number of replicas that must confirm each grant.
    caller(const arena& where, int i, int replicas = 0)
        : connection_{where.connect()}
        , requests_{i, connection_}
        , replicas_{replicas} {}

    void pair() {
        lock();
        unlock();
    }

    void lock() {
        text_.clear();
        requests_.append_lock(text_);
        if (replicas_ > 0)
            append_wait(text_, replicas_);
        Requests::expect_granted(*ask_composed(connection_, text_));
        if (replicas_ > 0)
            expect_confirmed(*next_answer(connection_), replicas_);
    }

    void unlock() {
        text_.clear();
        requests_.append_release(text_);
        Requests::expect_released(*ask_composed(connection_, text_));
    }

private:
    connection connection_;
    Requests requests_;
    const int replicas_;
    std::string text_;
};

template <typename Requests>
class callers : public contender {
public:
    explicit callers(const arena& where, int replicas = 0) {
        for (int i = 0; i < where.at_once; ++i)
            callers_.emplace_back(where, i, replicas);
    }

    tally run(nanoseconds length) override {
        return in_threads(static_cast<int>(callers_.size()), length,
                          [this](int i) { return time_of([&] { callers_[i].pair(); }); });
    }

    claim scripts_for(const tally& all) const override {
        const long long scripts = Requests::scripts_a_pair * all.done;
        return {scripts, scripts};
    }

private:
    std::deque<caller<Requests>> callers_; // a deque does not move its elements
};

/// Measures how much longer a grant takes when a replica confirms it.
class confirmed_caller : public contender {
public:
    explicit confirmed_caller(const arena& where)
        : alone_{where, 0}
        , confirmed_{where, 1, 1} {}

    tally run(nanoseconds length) override {
        return of_both(
            length, [this] { alone_.lock(); }, [this] { alone_.unlock(); },
            [this] { confirmed_.lock(); }, [this] { confirmed_.unlock(); });
    }

    claim scripts_for(const tally& all) const override { return {4 * all.done, 4 * all.done}; }

private:
    caller<requests> alone_, confirmed_;
};

} // namespace

made bare_sockets(const arena& where) {
    return std::make_unique<callers<requests>>(where);
}

made bare_sockets_with_set_nx(const arena& where) {
    return std::make_unique<callers<set_nx_requests>>(where);
}

made bare_sockets_confirmed_by_one(const arena& where) {
    return std::make_unique<callers<requests>>(where, 1);
}

made bare_sockets_confirmed_by_two(const arena& where) {
    return std::make_unique<callers<requests>>(where, 2);
}

made bare_confirmation(const arena& where) {
    return std::make_unique<confirmed_caller>(where);
}

made bare_readers(const arena& where) {
    return std::make_unique<callers<read_requests>>(where);
}

// Comparison programs for holdfast with coroutines: one thread, and one connection with the same
// number of pending requests. In a cluster, the thread has a connection to each primary.

namespace {

class raw_lines : public contender {
public:
    void add(connection to, const std::vector<int>& locks, raw_manner how = {}) {
        lines_.emplace_back(std::move(to), locks, how);
    }

    tally run(nanoseconds length) override {
        tally all;
        all.samples.reserve(1 << 20); // no reallocation while measuring
        const auto begin = stopwatch::now();
        for (raw_line& each : lines_)
            each.begin();
        while (std::ranges::any_of(lines_, &raw_line::is_busy)) {
            for (raw_line& each : lines_)
                each.write_all();
            for (raw_line* const each : readable())
                each->read_some(begin + length, all);
        }
        all.elapsed = stopwatch::now() - begin;
        all.done = static_cast<long long>(all.samples.size());
        return all;
    }

private:
    /// Returns the connections that have data to read. Returns a single connection without poll(),
    /// because read() itself waits for data.
    std::vector<raw_line*> readable() {
        if (lines_.size() == 1)
            return {&lines_.front()};
        std::vector<pollfd> sockets;
        for (const raw_line& each : lines_)
            sockets.push_back({.fd = each.socket(), .events = POLLIN, .revents = 0});
        while (::poll(sockets.data(), sockets.size(), -1) < 0)
            if (errno != EINTR)
                throw std::system_error{errno, std::generic_category(), "poll"};
        std::vector<raw_line*> found;
        for (std::size_t i = 0; i < sockets.size(); ++i)
            if (sockets[i].revents)
                found.push_back(&lines_[i]);
        return found;
    }

    std::vector<raw_line> lines_;
};

std::vector<int> numbers_to(int count) {
    std::vector<int> all(static_cast<std::size_t>(count));
    std::iota(all.begin(), all.end(), 0);
    return all;
}

made on_one_line(const arena& where, raw_manner how = {}) {
    auto one = std::make_unique<raw_lines>();
    one->add(where.connect(), numbers_to(where.at_once), how);
    return one;
}

/// Returns the locks whose slots this primary has. Asks the primary for its slots.
std::vector<int> locks_of(const connection& primary, int count) {
    const reply ranges = ask(primary, {"CLUSTER", "SLOTS"});
    const reply itself = ask(primary, {"CLUSTER", "MYID"});
    const std::string_view id{itself->str, itself->len};
    std::vector<int> locks;
    for (int lock = 0; lock < count; ++lock)
        for (std::size_t i = 0; i < ranges->elements; ++i) {
            const redisReply& range = *ranges->element[i];
            const redisReply& owner = *range.element[2]->element[2];
            const int slot = redis::key_slot(name_of_lock(lock));
            if (std::string_view{owner.str, owner.len} == id && range.element[0]->integer <= slot &&
                slot <= range.element[1]->integer)
                locks.push_back(lock);
        }
    return locks;
}

} // namespace

made raw_pipeline(const arena& where) {
    return on_one_line(where);
}

made raw_pipeline_confirmed_by_one(const arena& where) {
    return on_one_line(where, {.replicas = 1});
}

made raw_pipeline_confirmed_by_two(const arena& where) {
    return on_one_line(where, {.replicas = 2});
}

made raw_slots(const arena& where) {
    auto all = std::make_unique<raw_lines>();
    for (connection& each : connect_to_primaries(where.group.value())) {
        const std::vector<int> locks = locks_of(each, where.at_once);
        all->add(std::move(each), locks, {.telling = "spublish"});
    }
    return all;
}

// Comparison program for the local hand-over: a fair lock inside this process, without a server. An
// unlock wakes the thread that has waited longest. The measured time is what the kernel needs to
// switch between threads.

namespace {

/// Fair lock: the threads get it in the order of their calls, as in holdfast's local queue. With
/// std::mutex, a running thread may overtake a sleeping one.
class fair_lock {
public:
    void lock() {
        runtime::semaphore my_turn;
        {
            const std::scoped_lock alone{mutex_};
            if (!std::exchange(held_, true))
                return;
            waiting_.push_back(&my_turn);
        }
        my_turn.wait();
    }

    void unlock() {
        std::unique_lock alone{mutex_};
        if (waiting_.empty()) {
            held_ = false;
            return;
        }
        runtime::semaphore& next = *waiting_.front();
        waiting_.pop_front();
        alone.unlock(); // unlock first: the woken thread takes this mutex
        next.post();
    }

private:
    std::mutex mutex_;
    std::deque<runtime::semaphore*> waiting_;
    bool held_ = false;
};

class bare_crowd : public contender {
public:
    explicit bare_crowd(const arena& where)
        : threads_{where.at_once} {}

    tally run(nanoseconds length) override {
        return through_one_lock(
            threads_, length, [this] { lock_.lock(); }, [this] { lock_.unlock(); });
    }

    claim scripts_for(const tally&) const override { return {0, 0}; }

private:
    fair_lock lock_;
    const int threads_;
};

} // namespace

made bare_hand_off(const arena& where) {
    return std::make_unique<bare_crowd>(where);
}

} // namespace holdfast::bench
