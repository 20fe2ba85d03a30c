// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/basic_counter.hpp>
#include <holdfast/basic_mutex.hpp>
#include <holdfast/lease.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string_view>
#include <utility>

namespace holdfast {

/// Options of `leased_semaphore`.
///
///     holdfast::leased_semaphore seats{client, "seats", {.lease = holdfast::lease_time{10s}}};
struct leased_options {
    /// Lease time of the permits. It replaces the lease time of the client. Leases are renewed as
    /// usual.
    std::optional<lease_time> lease{};
    std::optional<unsigned> required_replicas{}; ///< overrides the client's value (options.hpp)
};

namespace detail {
/// Parameters of a call that acquires permits.
struct permit_options {
    std::uint32_t permits = 1;
    acquire_options how{};
};
} // namespace detail

/// Semaphore whose permits become free again when their holder dies: Redisson's permit-expirable
/// semaphore. It has no permits until their number is set.
///
///     leased_semaphore seats{client, "seats"};
///     seats.try_set_permits(20);          // once; the first process wins
///     lease mine = seats.acquire(2);      // waits until both are free
///     work(mine.lost());                  // stops when the permits are lost
///     mine.unlock();                      // the destructor releases, too
///
/// *Leases.* An acquiring call returns one `lease` for all its permits. The lease is renewed until
/// it is released, unless a lease time was given. It can be lost like the lease of a lock. If a
/// process dies, its permits become free when the lease expires. If one of several permits is lost,
/// the whole lease is lost, and the other permits are given back. No thread owns the lease; it may
/// be moved to any thread. A call that acquires again while a lease is held gets additional
/// permits.
///
/// *After the call.* If a call returns a lease, the caller has the permits. If a call returns no
/// lease, throws or is cancelled, the caller has no permits. Permits that such a call may have
/// taken are given back in the background, or become free when their lease expires. Changes to the
/// number of permits are executed at most once: see `basic_counter`.
///
/// *Order.* Waiting callers of one client are served in order of arrival, so a caller that needs
/// many permits is never starved by callers that need few. Between processes there is no order. The
/// client can hand a released lease over to its own next caller, without a request to the store, if
/// that caller waits for the same number of permits. Such a hand-over is limited by
/// `options::hand_off`. After a call of `lease::permit_ids()`, the lease is not handed over.
///
/// *Errors.* The acquiring functions have the same errors as the acquiring functions of
/// `basic_mutex`. Cancellation, and a call without a running executor, also work as described
/// there. For all other functions, see `basic_counter`. A call for zero permits or more than
/// `most_at_once` fails with `invalid_argument`. The functions fail with `refused` in these cases:
/// - The value under the name is not a leased semaphore.
/// - JVMs have written permits in a format that is older than the value of
///   `redis::options::redisson`.
/// - The user has no permission for TIME.
///
/// Thread safety: any thread may call every member. Wire format: docs/protocol/permits.md.
class HOLDFAST_EXPORT leased_semaphore : public basic_counter {
    template <typename Rep, typename Period>
    using length = std::chrono::duration<Rep, Period>;

public:
    /// Maximum number of permits of one lease. There is a maximum because a request contains an id
    /// for each permit.
    static constexpr std::uint32_t most_at_once = 1000;

    /// Creates the semaphore object; sends nothing. Throws `errc::invalid_argument` if the name or
    /// the lease time is not allowed, or if the store does not support leased semaphores.
    leased_semaphore(client& home, lock_name name, leased_options how = {});
    ~leased_semaphore();

    /// Acquires the permits, and waits if too few are free. Returns their lease, or throws.
    lease acquire(std::uint32_t permits = 1, std::stop_token cancel = {}) {
        return lease_of({permits, {.cancel = std::move(cancel)}});
    }
    /// Acquires the permits for the time `lasts`; the lease is not renewed.
    lease acquire(lease_time lasts, std::uint32_t permits = 1, std::stop_token cancel = {}) {
        return lease_of({permits, {.lease = lasts, .cancel = std::move(cancel)}});
    }

    /// Tries once to acquire the permits. The result is empty if there are not enough free permits,
    /// or if calls of this client already wait for permits.
    std::optional<lease> try_acquire(std::uint32_t permits = 1) {
        return take({permits, {.timeout = duration::zero()}});
    }
    std::optional<lease> try_acquire(lease_time lasts, std::uint32_t permits = 1) {
        return take({permits, {.timeout = duration::zero(), .lease = lasts}});
    }

    /// Tries to acquire the permits until `timeout` has passed; makes at least one attempt. If the
    /// result is empty, the call has taken no permits.
    template <typename Rep, typename Period>
    std::optional<lease> try_acquire_for(length<Rep, Period> timeout, std::uint32_t permits = 1,
                                         std::stop_token cancel = {}) {
        return take({permits,
                     {.timeout = detail::saturate(timeout, detail::rounding::up),
                      .cancel = std::move(cancel)}});
    }
    template <typename Rep, typename Period>
    std::optional<lease> try_acquire_for(length<Rep, Period> timeout, lease_time lasts,
                                         std::uint32_t permits = 1, std::stop_token cancel = {}) {
        return take({permits,
                     {.timeout = detail::saturate(timeout, detail::rounding::up),
                      .lease = lasts,
                      .cancel = std::move(cancel)}});
    }
    /// Tries to acquire the permits until a deadline, which can be a time of any clock; see
    /// try_acquire_for(). The time that remains is computed once, at the start.
    template <typename Clock, typename Duration>
    std::optional<lease> try_acquire_until(std::chrono::time_point<Clock, Duration> deadline,
                                           std::uint32_t permits = 1, std::stop_token cancel = {}) {
        return try_acquire_for(detail::timeout_until(deadline), permits, std::move(cancel));
    }

    /// Gives back one permit of any holder. The id of the permit comes from `lease::permit_ids()`
    /// or Redisson's `acquire()`. Returns false if the id is unknown or its lease has expired. The
    /// holder loses the permit: at once if its lease belongs to this client, otherwise at its next
    /// renewal. Throws `invalid_argument` if the id is not 32 hexadecimal digits.
    bool release(std::string_view permit_id);
    /// Changes the lease of one permit of any holder. The lease then ends when the time `lasts` has
    /// passed from now. Returns false if the id is unknown or its lease has expired.
    ///
    /// A holder that renews its lease will extend the lease again. A holder with a fixed lease
    /// learns of the new end at once if it belongs to this client. In another client, it learns of
    /// the new end at its next request, after at most a third of its lease. Until then, it relies
    /// on the old end, so do not shorten a lease that another client uses.
    bool set_lease(std::string_view permit_id, lease_time lasts);

    /// Creates the semaphore with this number of permits. Returns false, and changes nothing, if
    /// the semaphore exists already.
    bool try_set_permits(std::int64_t permits);
    /// Sets the total number of permits, including the permits that are held. No holder loses a
    /// permit. If more permits are held than the new total, the number of free permits is negative
    /// for a while.
    void set_permits(std::int64_t permits);
    /// Adds permits. A negative number removes permits; the number of free permits may then be
    /// negative for a while.
    void add_permits(std::int64_t permits);
    /// Returns the number of free permits. The number may be out of date when it arrives. A
    /// negative number -n means that n permits must be given back before the number is zero.
    [[nodiscard]] std::int64_t available_permits() const { return value(); }
    /// Returns the number of permits that all clients together hold.
    [[nodiscard]] std::int64_t acquired_permits() const;

    template <asio::completion_token_for<void(error_code, lease)> Token>
    auto async_acquire(std::uint32_t permits, Token&& token) {
        return initiate_lease({permits, {}}, std::forward<Token>(token));
    }
    template <asio::completion_token_for<void(error_code, lease)> Token>
    auto async_acquire(lease_time lasts, std::uint32_t permits, Token&& token) {
        return initiate_lease({permits, {.lease = lasts}}, std::forward<Token>(token));
    }
    // The async_try functions complete without a lease and without an error if not enough permits
    // became free before the timeout.
    template <asio::completion_token_for<void(error_code, std::optional<lease>)> Token>
    auto async_try_acquire(std::uint32_t permits, Token&& token) {
        return initiate_try_lease({permits, {.timeout = duration::zero()}},
                                  std::forward<Token>(token));
    }
    template <typename Rep, typename Period,
              asio::completion_token_for<void(error_code, std::optional<lease>)> Token>
    auto async_try_acquire_for(length<Rep, Period> timeout, std::uint32_t permits, Token&& token) {
        return initiate_try_lease(
            {permits, {.timeout = detail::saturate(timeout, detail::rounding::up)}},
            std::forward<Token>(token));
    }
    template <typename Rep, typename Period,
              asio::completion_token_for<void(error_code, std::optional<lease>)> Token>
    auto async_try_acquire_for(length<Rep, Period> timeout, lease_time lasts, std::uint32_t permits,
                               Token&& token) {
        return initiate_try_lease(
            {permits, {.timeout = detail::saturate(timeout, detail::rounding::up), .lease = lasts}},
            std::forward<Token>(token));
    }

    // The asynchronous functions from here on cannot be cancelled.
    template <asio::completion_token_for<void(error_code, bool)> Token>
    auto async_release(std::string_view permit_id, Token&& token) {
        return initiate_held(counter_verb::give_back, permit_id, {}, std::forward<Token>(token));
    }
    template <asio::completion_token_for<void(error_code, bool)> Token>
    auto async_set_lease(std::string_view permit_id, lease_time lasts, Token&& token) {
        return initiate_held(counter_verb::set_lease, permit_id, lasts.value,
                             std::forward<Token>(token));
    }
    template <asio::completion_token_for<void(error_code, bool)> Token>
    auto async_try_set_permits(std::int64_t permits, Token&& token) {
        return initiate_flag(counter_verb::set_new, permits, {}, std::forward<Token>(token));
    }
    template <asio::completion_token_for<void(error_code)> Token>
    auto async_set_permits(std::int64_t permits, Token&& token) {
        return initiate_change(counter_verb::set, permits, std::forward<Token>(token));
    }
    template <asio::completion_token_for<void(error_code)> Token>
    auto async_add_permits(std::int64_t permits, Token&& token) {
        const bool fewer = permits < 0 && permits >= -max();
        return initiate_change(fewer ? counter_verb::take_back : counter_verb::add,
                               fewer ? -permits : permits, std::forward<Token>(token));
    }
    template <asio::completion_token_for<void(error_code, std::int64_t)> Token>
    auto async_available_permits(Token&& token) const {
        return initiate_value(std::forward<Token>(token));
    }
    template <asio::completion_token_for<void(error_code, std::int64_t)> Token>
    auto async_acquired_permits(Token&& token) const {
        return asio::async_initiate<Token, void(error_code, std::int64_t)>(
            [of = counter()](auto handler) { start_taken(of, std::move(handler)); }, token);
    }

private:
    using shared_descriptor = std::shared_ptr<sync::lock_descriptor>;

    template <typename Token>
    auto initiate_lease(detail::permit_options how, Token&& token) {
        return asio::async_initiate<Token, void(error_code, lease)>(
            [of = permits_](auto handler, detail::permit_options wanted) {
                start_acquire(of, wanted, std::move(handler));
            },
            token, std::move(how));
    }
    template <typename Token>
    auto initiate_try_lease(detail::permit_options how, Token&& token) {
        return asio::async_initiate<Token, void(error_code, std::optional<lease>)>(
            [of = permits_](auto handler, detail::permit_options wanted) {
                start_try_acquire(of, wanted, std::move(handler));
            },
            token, std::move(how));
    }
    template <typename Token>
    auto initiate_held(counter_verb verb, std::string_view permit_id, duration lasts,
                       Token&& token) {
        return asio::async_initiate<Token, void(error_code, bool)>(
            [of = counter(), verb, lasts](auto handler, std::string which) {
                start_held(of, verb, std::move(which), lasts, std::move(handler));
            },
            token, std::string{permit_id});
    }

    std::optional<lease> take(const detail::permit_options&);
    lease lease_of(const detail::permit_options&);

    static void start_acquire(const shared_descriptor&, const detail::permit_options&,
                              detail::lease_handler);
    static void start_try_acquire(const shared_descriptor&, const detail::permit_options&,
                                  detail::maybe_lease_handler);
    static void start_held(shared_counter, counter_verb, std::string permit_id, duration lasts,
                           detail::flag_handler);
    static void start_taken(shared_counter, detail::number_handler);

    shared_descriptor permits_;
};

} // namespace holdfast
