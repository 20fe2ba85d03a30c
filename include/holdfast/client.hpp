// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/counters.hpp>
#include <holdfast/diagnosis.hpp>
#include <holdfast/error.hpp>
#include <holdfast/inspection.hpp>
#include <holdfast/options.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast {

namespace sync {
class engine;
} // namespace sync

/// The part that the locks of a process share: the way to the store, an identity there, the renewal
/// of holds, the queues of local waiters. One per store and process is enough for any number of
/// locks and threads.
///
///     holdfast::client client{"redis://127.0.0.1:6379"};
///
/// It connects when it is first asked for something. Locks and leases may outlive it; they then
/// fail with `errc::closed`. After fork(), the copies in the child fail with `errc::forked`, and
/// their destructors do nothing; a client that the child makes works. Code that forks on the
/// client's own thread (a handler, an observer, a stop callback) must not return there in the
/// child. Thread safety: every member may be called from any thread, except the destructor.
class HOLDFAST_EXPORT client {
public:
    /// With a background thread of its own: handlers without an executor, observers and stop
    /// callbacks run there. Throws `errc::invalid_argument` with the reason; nothing is sent.
    explicit client(std::string_view url)
        : client{with_url(url)} {}
    explicit client(const char* url) ///< refuses null (a variable that is not set)
        : client{with_url(url)} {}
    explicit client(std::nullptr_t) = delete; ///< name a server: client{"redis://127.0.0.1:6379"}
    explicit client(options how)
        : client{own_thread{}, std::move(how)} {}

    /// On the user's executor (which may have many threads), and with the machine's clock.
    /// When `close()` or `async_close` has completed, the client, its locks and its leases do not
    /// use the executor any more, and it may be destroyed before them. Blocking verbs then throw
    /// `closed` at once. Only an asynchronous verb that is begun after that still calls its handler
    /// through the executor. The executor may also be destroyed without a close: the client lets go
    /// of it in the same way, and the locks that were held end with their leases. Blocking calls on
    /// a thread that runs the executor fail with `would_deadlock` if the client can detect that; do
    /// not make them there.
    client(asio::any_io_executor executor, options how);

    /// With the user's clock too: for simulations (docs/howto, tests/sim). When the close has
    /// completed, the clock is not used any more either, and may be destroyed before the client.
    client(asio::any_io_executor executor, clock& time, options how);

    client(client&&) noexcept;
    client& operator=(client&&) noexcept;
    client(const client&) = delete;

    /// With a thread of its own: as `close()`. On a user's executor: starts closing, and does not
    /// wait.
    ~client();

    /// Takes no new work, fails the calls that wait (`errc::closed`), fires `lost()` on every hold,
    /// gives holders `close_patience` to release, and stops renewing. Returns when everything is
    /// sent and the work under way has ended. A lock that is still held then ends with its lease
    /// (but see `release_on_close`). Closing twice is fine. Do not call it on the client's
    /// executor: there it starts closing and returns. If nobody runs the executor, it never
    /// returns: use the destructor, which does not wait.
    void close() noexcept;

    /// Completes when `close()` would return. It cannot be cancelled.
    template <asio::completion_token_for<void(error_code)> Token>
    auto async_close(Token&& token) {
        return asio::async_initiate<Token, void(error_code)>(
            [engine = engine_](auto handler) { start_close(engine, std::move(handler)); }, token);
    }

    /// Checks whether the store is fit for locks: the connection, the version, the rights of this
    /// user (it takes and releases a lock named `trial`, and listens for it), the behaviour when
    /// memory or disk run out, the replicas, the clock. Behind Sentinels and in a cluster it asks
    /// all servers, and compares the time of a failover with the lease. Each problem is a finding
    /// with its remedy, and not an exception. Throws `invalid_argument` if no lock can have that
    /// name; `would_deadlock`, `closed` and `forked` as all blocking calls do. Takes a few round
    /// trips, or a few time limits where servers do not answer.
    diagnosis doctor(lock_name trial = {"holdfast-doctor"});

    template <asio::completion_token_for<void(error_code, diagnosis)> Token>
    auto async_doctor(lock_name trial, Token&& token) {
        return asio::async_initiate<Token, void(error_code, diagnosis)>(
            [engine = engine_, trial = std::move(trial)](auto handler) mutable {
                start_doctor(engine, std::move(trial), std::move(handler));
            },
            token);
    }

    /// Makes what the store needs before the first lock: the tables of a database. What was made,
    /// and what was there already, are findings. It may be repeated, and it deletes and changes
    /// nothing that is there. Throws `invalid_argument` if this store needs no such thing;
    /// `refused` if this user may not make it, or if something else has its name; otherwise as the
    /// acquiring verbs of a lock do.
    diagnosis set_up();

    template <asio::completion_token_for<void(error_code, diagnosis)> Token>
    auto async_set_up(Token&& token) {
        return asio::async_initiate<Token, void(error_code, diagnosis)>(
            [engine = engine_](auto handler) { start_set_up(engine, std::move(handler)); }, token);
    }

    // Questions about any lock, even one that a JVM holds. They take nothing, and they delay
    // nobody. The answer may be old when it arrives. They throw as the acquiring verbs of a lock
    // do; the asynchronous ones complete with the same codes, and cannot be cancelled.

    /// Everything that the store reports about the lock of that name. Empty: it is free, and nobody
    /// waits in a queue for it (`lock_state::is_held`).
    std::optional<lock_state> inspect(lock_name);

    /// Likewise about what is counted under that name: the permits that a semaphore has left, how
    /// often a latch has still to be counted down, the rate of a limiter. Most are kept as a bare
    /// number, so the store cannot tell which it is; `kind` says what you take it for. `refused` if
    /// it can be nothing of that kind; `invalid_argument` if the store has none.
    counter_state inspect(lock_name, counter_kind kind);

    /// The held locks whose names match a glob pattern (`*`, `?`, `[a-z]`, `\\`) behind this
    /// client's prefix; at most `limit` of them. It looks at a few hundred keys at a time, so that
    /// nobody else has to wait; on a server with many millions of keys, the list is incomplete. So
    /// it is if one of the servers of a cluster cannot be asked; if none can, that is thrown. A
    /// lock that is taken or released meanwhile may be in the list or not. What other programs hold
    /// of a `token_mutex` is not: it looks like anything else.
    lock_list list(std::string pattern = "*", std::size_t limit = 1000);

    /// Likewise what may be counters of that kind. A number that anybody has stored looks like a
    /// semaphore, and like a latch: the list of either has both. That of semaphores with leases has
    /// those of which somebody holds a permit. `invalid_argument` if the store has none of the
    /// kind.
    counter_list list(counter_kind kind, std::string pattern = "*", std::size_t limit = 1000);

    /// Waits until the lock is found free. False: it was not free within `patience` (zero: one
    /// look). The release wakes this call, as it wakes the waiters for the lock; those of a fair
    /// and of a spin lock are seen within `options::poll_bound`. Somebody else may have taken the
    /// lock when this returns.
    bool wait_free(lock_name name) { return await_free(std::move(name), duration::max()); }
    template <typename Rep, typename Period>
    bool wait_free(lock_name name, std::chrono::duration<Rep, Period> patience) {
        return await_free(std::move(name), detail::saturate(patience, detail::rounding::up));
    }

    /// As `basic_mutex::force_unlock()`. If `only_from` is given (an owner's text, as `inspect()`
    /// reports it), the lock is taken away from that owner only; one that is shared is taken away
    /// from all, if that owner is among them. A lock that another program keeps as a bare string
    /// (redis-py's, say) cannot be told from that program's data: without `only_from` it is
    /// `refused`. False: it was free, or that owner did not hold it. To repeat it after an unknown
    /// outcome, give `only_from`: otherwise the next holder may lose the lock.
    bool force_unlock(lock_name, std::string only_from = {});

    template <asio::completion_token_for<void(error_code, std::optional<lock_state>)> Token>
    auto async_inspect(lock_name name, Token&& token) {
        return asio::async_initiate<Token, void(error_code, std::optional<lock_state>)>(
            [engine = engine_, name = std::move(name)](auto handler) mutable {
                start_inspect(engine, std::move(name), std::move(handler));
            },
            token);
    }
    template <asio::completion_token_for<void(error_code, counter_state)> Token>
    auto async_inspect(lock_name name, counter_kind kind, Token&& token) {
        return asio::async_initiate<Token, void(error_code, counter_state)>(
            [engine = engine_, name = std::move(name), kind](auto handler) mutable {
                start_inspect(engine, std::move(name), kind, std::move(handler));
            },
            token);
    }
    template <asio::completion_token_for<void(error_code, lock_list)> Token>
    auto async_list(std::string pattern, std::size_t limit, Token&& token) {
        return asio::async_initiate<Token, void(error_code, lock_list)>(
            [engine = engine_, pattern = std::move(pattern), limit](auto handler) mutable {
                start_list(engine, std::move(pattern), limit, std::move(handler));
            },
            token);
    }
    template <asio::completion_token_for<void(error_code, counter_list)> Token>
    auto async_list(counter_kind kind, std::string pattern, std::size_t limit, Token&& token) {
        return asio::async_initiate<Token, void(error_code, counter_list)>(
            [engine = engine_, kind, pattern = std::move(pattern), limit](auto handler) mutable {
                start_list(engine, kind, std::move(pattern), limit, std::move(handler));
            },
            token);
    }
    template <typename Rep, typename Period,
              asio::completion_token_for<void(error_code, bool)> Token>
    auto async_wait_free(lock_name name, std::chrono::duration<Rep, Period> patience,
                         Token&& token) {
        const duration most = detail::saturate(patience, detail::rounding::up);
        return asio::async_initiate<Token, void(error_code, bool)>(
            [engine = engine_, name = std::move(name), most](auto handler) mutable {
                start_wait_free(engine, std::move(name), most, std::move(handler));
            },
            token);
    }

    /// The UUID that is the first half of every owner that this client writes to the store.
    std::string id() const;

    /// For the library's own types.
    const std::shared_ptr<sync::engine>& engine() const noexcept { return engine_; }

private:
    struct own_thread {};
    client(own_thread, options);
    static options with_url(std::string_view);
    static options with_url(const char*);
    bool await_free(lock_name, duration patience);
    static void start_doctor(std::shared_ptr<sync::engine>, lock_name,
                             asio::any_completion_handler<void(error_code, diagnosis)>);
    static void start_set_up(std::shared_ptr<sync::engine>,
                             asio::any_completion_handler<void(error_code, diagnosis)>);
    static void
        start_inspect(std::shared_ptr<sync::engine>, lock_name,
                      asio::any_completion_handler<void(error_code, std::optional<lock_state>)>);
    static void start_inspect(std::shared_ptr<sync::engine>, lock_name, counter_kind,
                              asio::any_completion_handler<void(error_code, counter_state)>);
    static void start_list(std::shared_ptr<sync::engine>, std::string pattern, std::size_t limit,
                           asio::any_completion_handler<void(error_code, lock_list)>);
    static void start_list(std::shared_ptr<sync::engine>, counter_kind, std::string pattern,
                           std::size_t limit,
                           asio::any_completion_handler<void(error_code, counter_list)>);
    static void start_wait_free(std::shared_ptr<sync::engine>, lock_name, duration patience,
                                asio::any_completion_handler<void(error_code, bool)>);
    static void start_close(std::shared_ptr<sync::engine>,
                            asio::any_completion_handler<void(error_code)>);

    std::shared_ptr<sync::engine> engine_;
    bool owns_thread_ = false;
};

} // namespace holdfast
