// SPDX-License-Identifier: Apache-2.0
#pragma once

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

/// What the locks of a process share: the way to the store, an identity there, the renewal of
/// holds, the queues of local waiters. One per store and process is enough for any number of locks
/// and threads.
///
///     holdfast::client client{"redis://127.0.0.1:6379"};
///
/// Connects when it is first asked for something. Locks and leases may outlive it; they answer
/// `errc::closed` then. After fork() the child's copies of them answer `errc::forked`, and their
/// destructors touch nothing; a client that the child makes works. What forks on the client's own
/// thread (a handler, an observer, a stop callback) must not return there in the child.
/// Thread safety: every member may be called from any thread, but for the destructor.
class HOLDFAST_EXPORT client {
public:
    /// With a background thread of its own, on which handlers without an executor, observers and
    /// stop callbacks run. Throws `errc::invalid_argument` with the reason, and sends nothing.
    explicit client(std::string_view url)
        : client{with_url(url)} {}
    explicit client(const char* url) ///< null, as of a variable that is not set, is refused
        : client{with_url(url)} {}
    explicit client(std::nullptr_t) = delete; ///< name a server: client{"redis://127.0.0.1:6379"}
    explicit client(options how)
        : client{own_thread{}, std::move(how)} {}

    /// On the user's executor (which may have many threads), and with the machine's clock.
    /// When `close()` or `async_close` has completed, the client, its locks and its leases use the
    /// executor no more, and it may be destroyed before them: blocking verbs throw `closed` at
    /// once, and only the handler of an asynchronous verb that is begun after that is still called
    /// through it. An executor that is destroyed without a close is let go of likewise, but what
    /// was held then ends with its lease. Blocking calls made on a thread that
    /// runs it fail `would_deadlock` where that can be told; do not make them there.
    client(asio::any_io_executor executor, options how);

    /// With the user's clock too: for simulations (docs/howto, tests/sim). When the close has
    /// completed the clock is not used any more either, and may be destroyed before the client.
    client(asio::any_io_executor executor, clock& time, options how);

    client(client&&) noexcept;
    client& operator=(client&&) noexcept;
    client(const client&) = delete;

    /// As `close()` on a thread of its own; on a user's executor it starts closing and does not
    /// wait.
    ~client();

    /// Takes no new work, fails who waits (`errc::closed`), fires `lost()` on every hold, gives
    /// holders `close_patience` to release, stops renewing, and returns when all is sent and what
    /// was under way has ended. What is still held then ends with its lease. Closing twice is fine.
    /// Not for the client's executor: there it starts closing and returns. On an executor that
    /// nobody runs it never returns: use the destructor there, which does not wait.
    void close() noexcept;

    /// Completes when `close()` would return. Cancellation: none.
    template <asio::completion_token_for<void(error_code)> Token>
    auto async_close(Token&& token) {
        return asio::async_initiate<Token, void(error_code)>(
            [engine = engine_](auto handler) { start_close(engine, std::move(handler)); }, token);
    }

    /// Looks at the store with a locksmith's eyes: whether it is reached, which version answers,
    /// what rights this user has (by taking and releasing a lock named `trial`, and listening for
    /// it), what it does when memory or disk run out, who copies it, what its clock says. What is
    /// wrong is a finding with its remedy; nothing of that throws. Throws `invalid_argument` if
    /// nothing could have that name, `would_deadlock` and `forked` as all blocking calls do. Takes
    /// a few round trips; a command timeout where nobody answers.
    diagnosis doctor(lock_name trial = {"holdfast-doctor"});

    template <asio::completion_token_for<void(error_code, diagnosis)> Token>
    auto async_doctor(lock_name trial, Token&& token) {
        return asio::async_initiate<Token, void(error_code, diagnosis)>(
            [engine = engine_, trial = std::move(trial)](auto handler) mutable {
                start_doctor(engine, std::move(trial), std::move(handler));
            },
            token);
    }

    // Questions about any lock, whoever holds it, a JVM too: nothing is taken, and nobody is kept
    // waiting. The answer may be old when it arrives. They throw as the acquiring verbs of a lock
    // do; the asynchronous ones complete with the same codes. Cancellation: none.

    /// All that is known of the lock of that name. Nothing: it is free.
    std::optional<lock_state> inspect(lock_name);

    /// The locks that are held and whose names match a glob pattern (`*`, `?`, `[a-z]`, `\\`),
    /// behind this client's prefix; at most `limit` of them. Only ever looks at a few hundred keys
    /// at a time, so nobody else has to wait; on a server of many millions it ends incomplete. What
    /// is taken or released meanwhile may be in the list or not.
    lock_list list(std::string pattern = "*", std::size_t limit = 1000);

    /// Waits until the lock is seen free. False: it was not within `patience` (zero: one look).
    /// Woken by the release, as who waits for the lock is; somebody else may have taken it when
    /// this returns.
    bool wait_free(lock_name name) { return await_free(std::move(name), duration::max()); }
    template <typename Rep, typename Period>
    bool wait_free(lock_name name, std::chrono::duration<Rep, Period> patience) {
        return await_free(std::move(name), detail::saturate(patience, detail::rounding::up));
    }

    /// As `basic_mutex::force_unlock()`: from whoever holds it, or from `only_from` alone, an owner
    /// as `inspect()` tells it. False: they did not hold it. Whoever repeats it after an unknown
    /// outcome says from whom, or it may be somebody else who loses the lock.
    bool force_unlock(lock_name, std::string only_from = {});

    template <asio::completion_token_for<void(error_code, std::optional<lock_state>)> Token>
    auto async_inspect(lock_name name, Token&& token) {
        return asio::async_initiate<Token, void(error_code, std::optional<lock_state>)>(
            [engine = engine_, name = std::move(name)](auto handler) mutable {
                start_inspect(engine, std::move(name), std::move(handler));
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

    /// The UUID that is the first half of every owner this client writes to the store.
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
    static void
        start_inspect(std::shared_ptr<sync::engine>, lock_name,
                      asio::any_completion_handler<void(error_code, std::optional<lock_state>)>);
    static void start_list(std::shared_ptr<sync::engine>, std::string pattern, std::size_t limit,
                           asio::any_completion_handler<void(error_code, lock_list)>);
    static void start_wait_free(std::shared_ptr<sync::engine>, lock_name, duration patience,
                                asio::any_completion_handler<void(error_code, bool)>);
    static void start_close(std::shared_ptr<sync::engine>,
                            asio::any_completion_handler<void(error_code)>);

    std::shared_ptr<sync::engine> engine_;
    bool owns_thread_ = false;
};

} // namespace holdfast
