// SPDX-License-Identifier: Apache-2.0
#include "bench/contenders/bare.hpp"
#include "bench/contenders/contender.hpp"
#include "store/redis/names.hpp"

#include <holdfast/client.hpp>
#include <holdfast/fenced_mutex.hpp>
#include <holdfast/multi_mutex.hpp>
#include <holdfast/mutex.hpp>
#include <holdfast/recursive_mutex.hpp>
#include <holdfast/shared_mutex.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <deque>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <thread>

// holdfast in a program with threads: one client, and blocking calls.

namespace holdfast::bench {
namespace {

class clients_threads final : public contender {
public:
    template <typename... Kind>
    explicit clients_threads(const arena& where, Kind... kind)
        : client_{where.url()} {
        for (int i = 0; i < where.at_once; ++i)
            locks_.emplace_back(client_, name_of_lock(i), kind...);
    }

    tally run(nanoseconds length) override {
        return in_threads(static_cast<int>(locks_.size()), length, [this](int i) {
            return time_of([&] {
                locks_[i].lock();
                expect_unlocked(locks_[i]);
            });
        });
    }

private:
    client client_;
    std::deque<mutex> locks_; // a deque does not move its elements
};

} // namespace

made holdfast_threads(const arena& where) {
    return std::make_unique<clients_threads>(where);
}

made holdfast_deferring(const arena& where) {
    return std::make_unique<clients_threads>(where, deferred_release);
}

// holdfast in a program with an event loop: one client on the loop's executor, many coroutines, and
// only one thread, as in the comparison program.

namespace {

asio::awaitable<void> pairs(mutex& lock, stopwatch::time_point end, tally& all) {
    for (auto begin = stopwatch::now(); begin < end;) {
        lease held = co_await lock.async_lock(asio::use_awaitable);
        co_await held.async_unlock(asio::use_awaitable);
        const auto now = stopwatch::now();
        all.samples.push_back(now - begin);
        begin = now;
    }
}

class clients_coroutines : public contender {
public:
    explicit clients_coroutines(const arena& where)
        : client_{loop_.get_executor(), options{.url = where.url(), .executor_is_serial = true}} {
        for (int i = 0; i < where.at_once; ++i)
            locks_.emplace_back(client_, name_of_lock(i));
    }

    ~clients_coroutines() override {
        client_.async_close([this](error_code) { loop_.stop(); });
        run_loop();
    }

    tally run(nanoseconds length) override {
        tally all;
        all.samples.reserve(1 << 20); // no reallocation while measuring
        std::exception_ptr failure;
        std::size_t left = locks_.size();
        const auto begin = stopwatch::now();
        for (mutex& lock : locks_)
            asio::co_spawn(loop_, pairs(lock, begin + length, all), [&](std::exception_ptr e) {
                if (e)
                    failure = e;
                if (--left == 0)
                    loop_.stop(); // the client's pending read would keep the loop running
            });
        run_loop();
        all.elapsed = stopwatch::now() - begin;
        all.done = static_cast<long long>(all.samples.size());
        if (failure)
            std::rethrow_exception(failure);
        return all;
    }

private:
    void run_loop() {
        loop_.restart();
        loop_.run();
    }

    asio::io_context loop_{1};
    client client_;
    std::deque<mutex> locks_; // a deque does not move its elements
};

} // namespace

made holdfast_coroutines(const arena& where) {
    return std::make_unique<clients_coroutines>(where);
}

made holdfast_coroutines_at_one_node(const arena& where) {
    arena alone = where;
    alone.group->url = "redis://127.0.0.1:" + std::to_string(where.group->ports.front());
    return std::make_unique<clients_coroutines>(alone);
}

made holdfast_coroutines_telling_shards(const arena& where) {
    arena sharded = where;
    sharded.query = "?pubsub=sharded";
    return std::make_unique<clients_coroutines>(sharded);
}

// Measures how much longer a call takes when a replica must confirm the grant.

namespace {

class confirmed_calls : public contender {
public:
    explicit confirmed_calls(const arena& where)
        : client_{where.url()} {}

    tally run(nanoseconds length) override {
        return of_both(
            length, [this] { alone_.lock(); }, [this] { expect_unlocked(alone_); },
            [this] { confirmed_.lock(); }, [this] { expect_unlocked(confirmed_); });
    }

    claim scripts_for(const tally& all) const override { return {4 * all.done, 4 * all.done}; }

private:
    client client_;
    mutex alone_{client_, name_of_lock(0)};
    mutex confirmed_{client_, name_of_lock(1), mutex_options{.required_replicas = 1}};
};

} // namespace

made holdfast_confirmation(const arena& where) {
    return std::make_unique<confirmed_calls>(where);
}

// Several locks that one client takes as one lock, compared with one round trip to the server.

namespace {

constexpr int members = 3;

class taker_of_all : public contender {
public:
    taker_of_all(const arena& where, sampled what)
        : what_{what}
        , client_{where.url()} {}

    tally run(nanoseconds length) override {
        return in_threads(1, length, [this](int) {
            const auto begin = stopwatch::now();
            all_.lock();
            const auto taken = stopwatch::now();
            expect_unlocked(all_);
            return sample_of(what_, begin, taken);
        });
    }

    claim scripts_for(const tally& all) const override {
        return {2 * members * all.done, 2 * members * all.done};
    }

private:
    const sampled what_;
    client client_;
    mutex a_{client_, name_of_lock(0)}, b_{client_, name_of_lock(1)}, c_{client_, name_of_lock(2)};
    multi_mutex all_{a_, b_, c_};
};

/// Measures the time of one script, from the request to the reply.
class asker : public contender {
public:
    explicit asker(const arena& where)
        : connection_{where.connect()}
        , requests_{0, connection_} {}

    tally run(nanoseconds length) override {
        tally all;
        const auto begin = stopwatch::now();
        do {
            all.samples.push_back(time_of([this] {
                text_.clear();
                requests_.append_lock(text_);
                requests::expect_granted(*ask_composed(connection_, text_));
            }));
            all.samples.push_back(time_of([this] {
                text_.clear();
                requests_.append_release(text_);
                requests::expect_released(*ask_composed(connection_, text_));
            }));
        } while (stopwatch::now() < begin + length);
        all.elapsed = stopwatch::now() - begin;
        all.done = static_cast<long long>(all.samples.size());
        return all;
    }

    claim scripts_for(const tally& all) const override { return {all.done, all.done}; }

private:
    connection connection_;
    requests requests_;
    std::string text_;
};

} // namespace

made holdfast_multi(const arena& where) {
    return std::make_unique<taker_of_all>(where, sampled::lock);
}

made holdfast_multi_pairs(const arena& where) {
    return std::make_unique<taker_of_all>(where, sampled::pair);
}

made bare_round_trips(const arena& where) {
    return std::make_unique<asker>(where);
}

// One lock that all threads of the process want all the time.

namespace {

template <typename Lock>
class crowd : public contender {
public:
    explicit crowd(const arena& where)
        : client_{where.url()}
        , lock_{client_, name_of_lock(0)}
        , threads_{where.at_once} {}

    tally run(nanoseconds length) override {
        return through_one_lock(
            threads_, length, [this] { lock_.lock(); }, [this] { expect_unlocked(lock_); });
    }

    /// A local hand-over needs no script, but at least one grant comes from the server.
    claim scripts_for(const tally& all) const override { return {2, 2 * all.done}; }

private:
    client client_;
    Lock lock_;
    const int threads_;
};

/// One fenced lock for all threads. At its end, each measurement deletes the key with the lock's
/// last token. Otherwise the server would keep this key for ever, and a measurement must leave no
/// key behind.
class fenced_crowd final : public crowd<fenced_mutex> {
public:
    explicit fenced_crowd(const arena& where)
        : crowd{where}
        , server_{where.connect()} {}

    tally run(nanoseconds length) override {
        tally all = crowd::run(length);
        ask(server_, {"DEL", redis::token_key({name_of_lock(0)})});
        return all;
    }

private:
    connection server_;
};

} // namespace

made holdfast_gate(const arena& where) {
    return std::make_unique<crowd<mutex>>(where);
}

made holdfast_fenced_gate(const arena& where) {
    return std::make_unique<fenced_crowd>(where);
}

// A lock that its holder takes again and again.

namespace {

/// Number of re-entries between two looks at the clock. The clock is not read for each re-entry,
/// because a look at the clock takes as long as a re-entry. A sample is the mean time of these
/// re-entries.
constexpr int between_looks = 1000;

class holder : public contender {
public:
    explicit holder(const arena& where)
        : client_{where.url()}
        , lock_{client_, name_of_lock(0)} {}

    tally run(nanoseconds length) override {
        const std::scoped_lock outer{lock_};
        tally all;
        all.elapsed = time_of([&] {
            const auto end = stopwatch::now() + length;
            do {
                const nanoseconds took = time_of([this] { enter_and_leave(between_looks); });
                all.samples.push_back(took / between_looks);
                all.done += between_looks;
            } while (stopwatch::now() < end);
        });
        return all;
    }

    /// Returns two scripts: lock and unlock of the outer lock.
    claim scripts_for(const tally&) const override { return {2, 2}; }

private:
    void enter_and_leave(int times) {
        for (int i = 0; i < times; ++i) {
            lock_.lock();
            expect_unlocked(lock_);
        }
    }

    client client_;
    recursive_mutex lock_;
};

} // namespace

made holdfast_reentry(const arena& where) {
    return std::make_unique<holder>(where);
}

// Contenders in which readers of one process share one lock, with and without a writer.

namespace {

class readers : public contender {
public:
    explicit readers(const arena& where)
        : threads_{where.at_once}
        , client_{where.url()}
        , lock_{client_, name_of_lock(0)} {}

    tally run(nanoseconds length) override {
        return in_threads(threads_, length, [this](int) { return time_of([this] { read(); }); });
    }

    /// Readers that arrive within a short time share one hold at the server, so two scripts may be
    /// enough for all of them.
    claim scripts_for(const tally& all) const override { return {2, 2 * all.done}; }

protected:
    virtual void look() const {} // reads the guarded data

    void read() {
        lock_.lock_shared();
        look();
        expect_unlocked(lock_.shared());
    }

    const int threads_;
    client client_;
    shared_mutex lock_;
};

/// One lock with one writing thread, and many reading threads. All pairs are counted. A sample is
/// how long the writer waited.
class readers_and_writer final : public readers {
public:
    using readers::readers;

    tally run(nanoseconds length) override {
        std::vector<nanoseconds> waits;
        tally all = in_threads(threads_, length, [&](int i) {
            if (i > 0)
                return time_of([this] { read(); });
            waits.push_back(time_of([this] { lock_.lock(); }));
            write();
            return waits.back();
        });
        all.samples = std::move(waits);
        return all;
    }

private:
    void look() const override {
        if (is_written_)
            throw std::runtime_error{"a reader was inside beside the writer"};
    }

    void write() {
        is_written_ = true;
        is_written_ = false;
        expect_unlocked(lock_);
    }

    // The variable is volatile, so that the compiler keeps the writes. The measured lock guards it.
    volatile bool is_written_ = false;
};

} // namespace

made holdfast_readers(const arena& where) {
    return std::make_unique<readers>(where);
}

made holdfast_readers_and_writer(const arena& where) {
    return std::make_unique<readers_and_writer>(where);
}

// One lock that many threads want. Each thread has its own client, and so its own entry in the
// server's queue.

namespace {

class clients_in_queue final : public contender {
public:
    explicit clients_in_queue(const arena& where) {
        for (int i = 0; i < where.at_once; ++i)
            members_.emplace_back(where.url());
    }

    /// Measures the time from one thread's release until the next thread holds the lock.
    tally run(nanoseconds length) override {
        return in_threads(static_cast<int>(members_.size()), length, [this](int i) {
            const auto asked = stopwatch::now();
            members_[i].lock.lock();
            const nanoseconds waited = stopwatch::now() - std::max(asked, released_at_);
            std::this_thread::sleep_for(hold(i));
            released_at_ = stopwatch::now();
            expect_unlocked(members_[i].lock);
            return waited;
        });
    }

private:
    struct member {
        explicit member(const std::string& url)
            : home{url} {}
        client home;
        mutex lock{home, name_of_lock(0)};
    };

    /// Returns how long to hold the lock: one to three milliseconds, as in the program with
    /// Curator.
    std::chrono::milliseconds hold(int i) {
        return std::chrono::milliseconds{1 + (7 * i + turns_++) % 3};
    }

    std::deque<member> members_;        // a deque does not move its elements
    stopwatch::time_point released_at_; // guarded only by the measured lock, like `turns_`
    int turns_ = 0;
};

} // namespace

made holdfast_queue(const arena& where) {
    return std::make_unique<clients_in_queue>(where);
}

} // namespace holdfast::bench
