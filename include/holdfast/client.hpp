// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/counters.hpp>
#include <holdfast/diagnosis.hpp>
#include <holdfast/error.hpp>
#include <holdfast/inspection.hpp>
#include <holdfast/lease.hpp>
#include <holdfast/options.hpp>
#include <holdfast/ticket.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast {

namespace sync {
class engine;
} // namespace sync

/// Connection of a process to one store, shared by all locks of the process. The client connects to
/// the store, identifies itself there, renews the leases, and queues the local waiters. One client
/// per store and process is enough for any number of locks and threads.
///
///     holdfast::client client{"redis://127.0.0.1:6379"};
///
/// The client connects when it sends its first request. Locks and leases may outlive the client;
/// their functions then fail with `errc::closed`.
///
/// *After fork()*, the client, locks and leases that the child has inherited fail with
/// `errc::forked`, and their destructors do nothing. The child can create a new client. If code on
/// the client's own thread (a handler, an observer, a stop callback) calls fork(), that code must
/// not return in the child.
///
/// Thread safety: any thread may call every member except the destructor.
class HOLDFAST_EXPORT client {
public:
    /// Creates a client that has its own background thread. The background thread runs observers,
    /// stop callbacks, and handlers that have no executor. The constructor sends nothing. The
    /// constructor throws `errc::invalid_argument` if the URL is wrong; the error text says why.
    explicit client(std::string_view url)
        : client{with_url(url)} {}
    /// Throws if `url` is null, for example because the program passed an environment variable that
    /// is not set.
    explicit client(const char* url)
        : client{with_url(url)} {}
    explicit client(std::nullptr_t) = delete; ///< pass a URL: client{"redis://127.0.0.1:6379"}
    explicit client(options how)
        : client{own_thread{}, std::move(how)} {}

    /// Creates a client that runs on the user's executor, with the machine's clock. The executor
    /// may have many threads.
    ///
    /// After `close()` or `async_close` has completed, the client, its locks and its leases do not
    /// use the executor any more. So the executor may be destroyed before these objects. Blocking
    /// calls then throw `closed` at once. An asynchronous call that starts later still calls its
    /// handler through the executor.
    ///
    /// The executor may also be destroyed while the client is not closed. The client then stops
    /// using the executor, and the locks that it held become free when their leases expire.
    ///
    /// Do not make blocking calls on a thread that runs the executor. They fail with
    /// `would_deadlock` if the client can detect it.
    client(asio::any_io_executor executor, options how);

    /// Creates a client that runs on the user's executor and uses the user's clock, for simulations
    /// (docs/howto/testing.md, tests/sim). After `close()` has completed, the client does not use
    /// the clock any more, so the clock may be destroyed before the client.
    client(asio::any_io_executor executor, clock& time, options how);

    client(client&&) noexcept;
    client& operator=(client&&) noexcept;
    client(const client&) = delete;

    /// Destroys the client. If the client has its own thread, the destructor does the same as
    /// `close()`. If the client runs on the user's executor, the destructor starts the close and
    /// does not wait for its end.
    ~client();

    /// Closes the client. New calls are refused, waiting calls fail with `errc::closed`, and
    /// `lost()` fires on every lease. Holders then have `close_timeout` to release their locks;
    /// after that, renewal stops. Returns when all requests are sent and the running operations
    /// have ended.
    ///
    /// A lock that is still held becomes free when its lease expires (see also `release_on_close`).
    /// It is safe to call close() twice.
    ///
    /// On the client's executor, close() only starts the close and returns. If no thread runs the
    /// executor, close() never returns: use the destructor, which does not wait.
    void close() noexcept;

    /// Closes the client as `close()` does, but asynchronously. This operation cannot be cancelled.
    template <asio::completion_token_for<void(error_code)> Token>
    auto async_close(Token&& token) {
        return asio::async_initiate<Token, void(error_code)>(
            [engine = engine_](auto handler) { start_close(engine, std::move(handler)); }, token);
    }

    /// Checks whether the store is fit for locks. It checks the connection, the version, the
    /// permissions of this user, the behaviour when memory or disk is full, the replicas and the
    /// clock. To check the permissions, it acquires and releases a lock named `trial`, and
    /// subscribes to its notifications. With Sentinel and Cluster it asks all servers, and compares
    /// the duration of a failover with the lease.
    ///
    /// Each problem is reported as a finding with a remedy, not as an exception. Throws
    /// `invalid_argument` if no lock can have that name. Throws `would_deadlock`, `closed` and
    /// `forked` like all blocking calls. The check takes a few round trips, or a few timeouts if
    /// servers do not reply.
    diagnosis doctor(lock_name trial = {"holdfast-doctor"});

    template <asio::completion_token_for<void(error_code, diagnosis)> Token>
    auto async_doctor(lock_name trial, Token&& token) {
        return asio::async_initiate<Token, void(error_code, diagnosis)>(
            [engine = engine_, trial = std::move(trial)](auto handler) mutable {
                start_doctor(engine, std::move(trial), std::move(handler));
            },
            token);
    }

    /// Creates everything that the store needs before the first lock, for example the tables of a
    /// database. The findings list what was created and what existed already. The call can be
    /// repeated: it never deletes or changes anything that exists.
    ///
    /// Throws `invalid_argument` if this store needs no set-up. Throws `refused` if this user has
    /// no permission, or if another object has the name already. It also throws the errors of the
    /// acquiring functions of a lock.
    diagnosis set_up();

    template <asio::completion_token_for<void(error_code, diagnosis)> Token>
    auto async_set_up(Token&& token) {
        return asio::async_initiate<Token, void(error_code, diagnosis)>(
            [engine = engine_](auto handler) { start_set_up(engine, std::move(handler)); }, token);
    }

    // The functions from inspect() to wait_free() ask about any lock, also about a lock that a JVM
    // holds. These functions acquire nothing and delay no other client. A result may be out of date
    // when it arrives. The functions throw the same errors as `basic_mutex::lock()`. Their
    // asynchronous versions complete with the same codes and cannot be cancelled.

    /// Returns everything that the store reports about the lock with this name. The result is empty
    /// if the lock is free and no waiter is queued for it (see `lock_state::is_held`).
    std::optional<lock_state> inspect(lock_name, lock_details = lock_details::all);

    /// Returns the state of the counter with this name: the free permits of a semaphore, the
    /// remaining count of a latch, or the rate of a limiter. Most counters are stored as a plain
    /// number that does not show the type of the counter, so `kind` says how to read the number.
    /// Throws `refused` if the stored value cannot be a counter of this kind, and
    /// `invalid_argument` if the store does not support this kind.
    counter_state inspect(lock_name, counter_kind kind);

    /// Lists the held locks whose names match a glob pattern. The pattern is for the name without
    /// this client's prefix; only names with that prefix are listed. Returns at most `limit` locks.
    /// Scans a few hundred keys per request, so that other clients are not delayed.
    ///
    /// The rules of the pattern are the same on every store. `*` matches any text, and `?` matches
    /// one byte. `[a-z]` matches one of these bytes, and `[^a-z]` or `[!a-z]` one other byte. After
    /// `\\`, the next byte matches only itself. A letter outside ASCII has several bytes.
    ///
    /// The list may be incomplete: on a server with many millions of keys, or if some servers of a
    /// cluster cannot be asked. If no server can be asked, the call throws. A lock that is acquired
    /// or released during the call may be in the list or missing. A `token_mutex` that another
    /// program holds is not listed, because its key looks like any other string.
    lock_list list(std::string pattern = "*", std::size_t limit = 1000);

    /// Lists the locks that clients have held or waited for during at least a second. The clients
    /// report these holds and waits to the server themselves (`options::announce`), so the call
    /// does not scan the keys of the server. Returns at most `limit` locks: the first in the order
    /// `by`, of those whose names contain `text`. As in list(), only names with this client's
    /// prefix are listed, and `text` is not searched in the prefix. On MySQL, on ZooKeeper and in
    /// memory, clients report nothing, and the call lists the held locks by name, as list() does.
    lock_list list_active(std::size_t limit = 100, active_order by = active_order::wait,
                          std::string text = {});

    /// Lists keys that may be counters of the given kind. The store cannot distinguish the number
    /// of a semaphore from the number of a latch. So the list of semaphores and the list of latches
    /// both contain every stored number. The list of leased semaphores contains only semaphores of
    /// which at least one permit is held. Throws `invalid_argument` if the store does not support
    /// the kind.
    counter_list list(counter_kind kind, std::string pattern = "*", std::size_t limit = 1000);

    /// Waits until a request finds the lock free. Returns false if no request found the lock free
    /// before `timeout` had passed; with a timeout of zero, the call sends one request. A release
    /// wakes this call together with the waiters for the lock. The call notices the release of a
    /// fair lock or a spin lock only by polling, within `options::poll_bound`. Another client may
    /// have acquired the lock before this call returns.
    bool wait_free(lock_name name) { return await_free(std::move(name), duration::max()); }
    template <typename Rep, typename Period>
    bool wait_free(lock_name name, std::chrono::duration<Rep, Period> timeout) {
        return await_free(std::move(name), detail::saturate(timeout, detail::rounding::up));
    }

    /// Removes the lock from its holder; see `basic_mutex::force_unlock()`. If `only_from` is set
    /// to an owner's text, as `inspect()` reports it, the lock is removed from that owner only. A
    /// shared lock is then removed from all its owners, if that owner is one of them. Returns false
    /// if the lock was free, or if that owner did not hold it.
    ///
    /// Throws `refused` without `only_from` for a lock that another program stores as a plain
    /// string (for example redis-py), because the key could be that program's data.
    ///
    /// Behind Sentinels and in a cluster, the call repeats its request while no server can be
    /// reached, for at most `options::unavailable_timeout`. If the store may have executed the
    /// request, the call repeats it only if `only_from` is the owner of a holdfast client. The
    /// result is then true even if this owner no longer holds the lock. For any other owner, the
    /// call throws `outcome_unknown`, because a repetition could take the lock from the next
    /// holder.
    bool force_unlock(lock_name, std::string only_from = {});

    /// Asks the present holders of a lock to release it soon. The store keeps this wish for `kept`
    /// (at least 1 s, at most one day), and notifies the holders. A holder notices the wish if it
    /// uses `lease::asked()`; it may release the lock or go on. Returns the owners that hold the
    /// lock, in the form of `lock_owner::text`. If there are very many owners, returns only some of
    /// them. If the lock is free, stores nothing and returns an empty list.
    ///
    /// The wish is only for the owners that hold the lock now: a later holder does not get the
    /// wish. A later wish for the same lock replaces the earlier wish. A wish can have no effect,
    /// because it may be lost in a failover, and because JVMs and other programs do not read
    /// wishes.
    ///
    /// Throws `invalid_argument` if the reason has more than `wish::reason_bytes_max` bytes, or if
    /// the store has no wishes (MySQL, ZooKeeper). Throws `store_errc::wrong_type` if the name has
    /// a value that is not a lock.
    std::vector<std::string> ask_for(lock_name name, std::string reason = {}) {
        return ask_holders(std::move(name), std::move(reason), std::chrono::minutes{1});
    }
    template <typename Rep, typename Period>
    std::vector<std::string> ask_for(lock_name name, std::string reason,
                                     std::chrono::duration<Rep, Period> kept) {
        return ask_holders(std::move(name), std::move(reason),
                           detail::saturate(kept, detail::rounding::up));
    }

    template <typename Rep, typename Period,
              asio::completion_token_for<void(error_code, std::vector<std::string>)> Token>
    auto async_ask_for(lock_name name, std::string reason, std::chrono::duration<Rep, Period> kept,
                       Token&& token) {
        const duration most = detail::saturate(kept, detail::rounding::up);
        return asio::async_initiate<Token, void(error_code, std::vector<std::string>)>(
            [engine = engine_, name = std::move(name), reason = std::move(reason),
             most](auto handler) mutable {
                start_ask(engine, std::move(name), std::move(reason), most, std::move(handler));
            },
            token);
    }

    // The functions adopt(), renew() and give() use the ticket of a detached hold
    // (`lease::detach()`). The name in the ticket is the name at the store, so the functions do not
    // add this client's prefix. They throw `invalid_argument` if the store does not support the
    // ticket's kind, and the same errors as `basic_mutex::lock()`. Their asynchronous versions
    // complete with the same codes and cannot be cancelled.

    /// Turns the ticket of a detached hold into a lease of this client. The store gives the hold a
    /// new owner in one step, so a ticket can be adopted only once. This client renews the returned
    /// lease. Its lease time is `length`, or `options::lease_time` if `length` is empty. This lease
    /// time replaces the remaining time of the ticket's lease, even if that was longer. A fenced
    /// lock keeps its token.
    ///
    /// Throws `lease_lost` if the ticket's owner does not hold the lock: the lock was released or
    /// removed by force, its lease has ended, the ticket was adopted before, or the reply took
    /// longer than the lease. After any other error, the ticket may be invalid, because the store
    /// may have executed the request. After every error, the client releases the hold that it may
    /// have got. If this release fails, the lock stays held until its lease ends.
    [[nodiscard]] lease adopt(const ticket&, std::optional<lease_time> length = std::nullopt);

    /// Makes a detached hold last at least `length` from now, and never shortens it. Returns false
    /// if the hold has ended.
    bool renew(const ticket&, lease_time length);

    /// Releases a detached hold and notifies the waiters. Returns false if the hold had ended
    /// before. If the call throws an error, the lock becomes free at the latest when its lease
    /// ends.
    bool give(const ticket&);

    template <asio::completion_token_for<void(error_code, lease)> Token>
    auto async_adopt(ticket from, std::optional<lease_time> length, Token&& token) {
        return asio::async_initiate<Token, void(error_code, lease)>(
            [engine = engine_, from = std::move(from), length](auto handler) mutable {
                start_adopt(engine, std::move(from), length, std::move(handler));
            },
            token);
    }
    template <asio::completion_token_for<void(error_code, bool)> Token>
    auto async_renew(ticket which, lease_time length, Token&& token) {
        return asio::async_initiate<Token, void(error_code, bool)>(
            [engine = engine_, which = std::move(which), length](auto handler) mutable {
                start_renew(engine, std::move(which), length, std::move(handler));
            },
            token);
    }
    template <asio::completion_token_for<void(error_code, bool)> Token>
    auto async_give(ticket which, Token&& token) {
        return asio::async_initiate<Token, void(error_code, bool)>(
            [engine = engine_, which = std::move(which)](auto handler) mutable {
                start_give(engine, std::move(which), std::move(handler));
            },
            token);
    }

    template <asio::completion_token_for<void(error_code, std::optional<lock_state>)> Token>
    auto async_inspect(lock_name name, Token&& token) {
        return async_inspect(std::move(name), lock_details::all, std::forward<Token>(token));
    }
    template <asio::completion_token_for<void(error_code, std::optional<lock_state>)> Token>
    auto async_inspect(lock_name name, lock_details details, Token&& token) {
        return asio::async_initiate<Token, void(error_code, std::optional<lock_state>)>(
            [engine = engine_, name = std::move(name), details](auto handler) mutable {
                start_inspect(engine, std::move(name), details, std::move(handler));
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
    auto async_wait_free(lock_name name, std::chrono::duration<Rep, Period> timeout,
                         Token&& token) {
        const duration most = detail::saturate(timeout, detail::rounding::up);
        return asio::async_initiate<Token, void(error_code, bool)>(
            [engine = engine_, name = std::move(name), most](auto handler) mutable {
                start_wait_free(engine, std::move(name), most, std::move(handler));
            },
            token);
    }

    /// Returns the UUID of this client. The store identifies each hold by an owner text; all owner
    /// texts of this client begin with this UUID.
    std::string id() const;

    /// Returns the object that implements the client. Only the library itself calls this function.
    const std::shared_ptr<sync::engine>& engine() const noexcept { return engine_; }

private:
    struct own_thread {};
    client(own_thread, options);
    static options with_url(std::string_view);
    static options with_url(const char*);
    bool await_free(lock_name, duration timeout);
    std::vector<std::string> ask_holders(lock_name, std::string reason, duration kept);
    static void start_ask(std::shared_ptr<sync::engine>, lock_name, std::string reason,
                          duration kept,
                          asio::any_completion_handler<void(error_code, std::vector<std::string>)>);
    static void start_doctor(std::shared_ptr<sync::engine>, lock_name,
                             asio::any_completion_handler<void(error_code, diagnosis)>);
    static void start_set_up(std::shared_ptr<sync::engine>,
                             asio::any_completion_handler<void(error_code, diagnosis)>);
    static void
        start_inspect(std::shared_ptr<sync::engine>, lock_name, lock_details,
                      asio::any_completion_handler<void(error_code, std::optional<lock_state>)>);
    static void start_inspect(std::shared_ptr<sync::engine>, lock_name, counter_kind,
                              asio::any_completion_handler<void(error_code, counter_state)>);
    static void start_list(std::shared_ptr<sync::engine>, std::string pattern, std::size_t limit,
                           asio::any_completion_handler<void(error_code, lock_list)>);
    static void start_list(std::shared_ptr<sync::engine>, counter_kind, std::string pattern,
                           std::size_t limit,
                           asio::any_completion_handler<void(error_code, counter_list)>);
    static void start_wait_free(std::shared_ptr<sync::engine>, lock_name, duration timeout,
                                asio::any_completion_handler<void(error_code, bool)>);
    static void start_adopt(std::shared_ptr<sync::engine>, ticket, std::optional<lease_time>,
                            asio::any_completion_handler<void(error_code, lease)>);
    static void start_renew(std::shared_ptr<sync::engine>, ticket, lease_time,
                            asio::any_completion_handler<void(error_code, bool)>);
    static void start_give(std::shared_ptr<sync::engine>, ticket,
                           asio::any_completion_handler<void(error_code, bool)>);
    static void start_close(std::shared_ptr<sync::engine>,
                            asio::any_completion_handler<void(error_code)>);

    std::shared_ptr<sync::engine> engine_;
    bool owns_thread_ = false;
};

} // namespace holdfast
