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

/// For `leased_semaphore`.
///
///     holdfast::leased_semaphore seats{client, "seats", {.lease = holdfast::lease_time{10s}}};
struct leased_options {
    std::optional<lease_time> lease{}; ///< instead of the client's; it is renewed all the same
    std::optional<unsigned> required_replicas{}; ///< instead of the client's (options.hpp)
};

namespace detail {
/// So many permits, and how to acquire them.
struct permits_wish {
    std::uint32_t permits = 1;
    wish how{};
};
} // namespace detail

/// A semaphore whose permits come back when their holder dies: Redisson's permit-expirable
/// semaphore. There are as many permits as were set; none before that.
///
///     leased_semaphore seats{client, "seats"};
///     seats.try_set_permits(20);          // once, whoever comes first
///     lease mine = seats.acquire(2);      // both, or it waits
///     work(mine.lost());                  // stops when they are no longer ours
///     mine.unlock();                      // or when `mine` is destroyed
///
/// Whoever acquires gets one `lease` for all its permits. Unless a lease time is given it is
/// renewed until it is released, and lost as that of a lock: the permits come back by themselves
/// when the lease of a process that died has ended. If one of several permits is lost, the lease is
/// lost, and the rest is given back. The lease belongs to nobody's thread, and may be moved
/// anywhere. Acquiring again, while a lease is held, takes further permits.
///
/// *What is known afterwards.* A call that returns a lease has the permits; one that returns none,
/// throws or is cancelled has none, and what may have been taken is given back in the background,
/// or comes back when its lease ends. What changes the number of permits is carried out at most
/// once: `basic_counter`.
///
/// Callers of one client are served in order of arrival, so one that wants many permits is not
/// overtaken for ever by those that want few; between processes there is no order. A lease that is
/// released may pass to a caller of the same client that waits for as many permits, without a word
/// to the store, within the bounds of `options::hand_off`. After `lease::permit_ids()` it does not.
///
/// Errors, cancellation, and what happens where nobody runs the client's executor: as for the
/// acquiring verbs of `basic_mutex`, and for all others as of `basic_counter`. Zero permits, or
/// more than `most_at_once`, are an `invalid_argument`. If the name holds something else, the verbs
/// fail with `refused`; so they do where JVMs write permits in an older form than
/// `redis::options::redisson` says, and without the right to TIME. Thread safety: every member may
/// be called from any thread. Wire format: docs/protocol/permits.md.
class HOLDFAST_EXPORT leased_semaphore : public basic_counter {
    template <typename Rep, typename Period>
    using length = std::chrono::duration<Rep, Period>;

public:
    /// A lease has so many permits at most: each is asked for by its own id.
    static constexpr std::uint32_t most_at_once = 1000;

    /// No I/O. Throws `errc::invalid_argument` if the name or the lease time is not allowed, or if
    /// the store has no such semaphores.
    leased_semaphore(client& home, lock_name name, leased_options how = {});
    ~leased_semaphore();

    /// Returns with the permits, or throws.
    lease acquire(std::uint32_t permits = 1, std::stop_token cancel = {}) {
        return lease_of({permits, {.cancel = std::move(cancel)}});
    }
    /// The same for that time: they are not renewed.
    lease acquire(lease_time lasts, std::uint32_t permits = 1, std::stop_token cancel = {}) {
        return lease_of({permits, {.lease = lasts, .cancel = std::move(cancel)}});
    }

    /// One attempt. Empty: there are not enough (or callers of this client wait for some already).
    std::optional<lease> try_acquire(std::uint32_t permits = 1) {
        return take({permits, {.patience = duration::zero()}});
    }
    std::optional<lease> try_acquire(lease_time lasts, std::uint32_t permits = 1) {
        return take({permits, {.patience = duration::zero(), .lease = lasts}});
    }

    /// At least one attempt. Empty: the patience was over, and nothing is taken.
    template <typename Rep, typename Period>
    std::optional<lease> try_acquire_for(length<Rep, Period> patience, std::uint32_t permits = 1,
                                         std::stop_token cancel = {}) {
        return take({permits,
                     {.patience = detail::saturate(patience, detail::rounding::up),
                      .cancel = std::move(cancel)}});
    }
    template <typename Rep, typename Period>
    std::optional<lease> try_acquire_for(length<Rep, Period> patience, lease_time lasts,
                                         std::uint32_t permits = 1, std::stop_token cancel = {}) {
        return take({permits,
                     {.patience = detail::saturate(patience, detail::rounding::up),
                      .lease = lasts,
                      .cancel = std::move(cancel)}});
    }
    /// On any clock; the time that is left is read once.
    template <typename Clock, typename Duration>
    std::optional<lease> try_acquire_until(std::chrono::time_point<Clock, Duration> deadline,
                                           std::uint32_t permits = 1, std::stop_token cancel = {}) {
        return try_acquire_for(detail::patience_until(deadline), permits, std::move(cancel));
    }

    /// Gives back one permit, whoever has it: `lease::permit_ids()`, or what Redisson's `acquire()`
    /// returned. False: it is unknown, or its lease had ended. Its holder loses it: a lease of this
    /// client at once, one of another at its next renewal. Throws `invalid_argument` for what is no
    /// id: 32 hexadecimal digits.
    bool release(std::string_view permit_id);
    /// Makes the lease of that permit end so long from now, whoever has it. False: it is unknown,
    /// or its lease had ended. A holder that renews it extends it again. A holder with a fixed
    /// lease believes in the new end: at once if it is of this client, else from its next contact
    /// on, after a third of its lease at most. Until then it believes in the old end: shorten no
    /// lease of another client that is in use.
    bool set_lease(std::string_view permit_id, lease_time lasts);

    /// Makes a semaphore of so many permits. False: there is one already, and it is as it was.
    bool try_set_permits(std::int64_t permits);
    /// There shall be so many in all, those that are held too. Nobody loses one: if more are held,
    /// fewer than none are available for a while.
    void set_permits(std::int64_t permits);
    /// So many more; below zero: so many fewer, and then there may be less than none for a while.
    void add_permits(std::int64_t permits);
    /// The answer may be old when it arrives. Below zero: so many are missing before there is one.
    [[nodiscard]] std::int64_t available_permits() const { return value(); }
    /// So many are held, by anybody.
    [[nodiscard]] std::int64_t acquired_permits() const;

    template <asio::completion_token_for<void(error_code, lease)> Token>
    auto async_acquire(std::uint32_t permits, Token&& token) {
        return initiate_lease({permits, {}}, std::forward<Token>(token));
    }
    template <asio::completion_token_for<void(error_code, lease)> Token>
    auto async_acquire(lease_time lasts, std::uint32_t permits, Token&& token) {
        return initiate_lease({permits, {.lease = lasts}}, std::forward<Token>(token));
    }
    // They complete without a lease and without an error if there were not enough until the
    // patience was over.
    template <asio::completion_token_for<void(error_code, std::optional<lease>)> Token>
    auto async_try_acquire(std::uint32_t permits, Token&& token) {
        return initiate_try_lease({permits, {.patience = duration::zero()}},
                                  std::forward<Token>(token));
    }
    template <typename Rep, typename Period,
              asio::completion_token_for<void(error_code, std::optional<lease>)> Token>
    auto async_try_acquire_for(length<Rep, Period> patience, std::uint32_t permits, Token&& token) {
        return initiate_try_lease(
            {permits, {.patience = detail::saturate(patience, detail::rounding::up)}},
            std::forward<Token>(token));
    }
    template <typename Rep, typename Period,
              asio::completion_token_for<void(error_code, std::optional<lease>)> Token>
    auto async_try_acquire_for(length<Rep, Period> patience, lease_time lasts,
                               std::uint32_t permits, Token&& token) {
        return initiate_try_lease(
            {permits,
             {.patience = detail::saturate(patience, detail::rounding::up), .lease = lasts}},
            std::forward<Token>(token));
    }

    // What follows cannot be cancelled.
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
    using shared_subject = std::shared_ptr<sync::subject>;

    template <typename Token>
    auto initiate_lease(detail::permits_wish how, Token&& token) {
        return asio::async_initiate<Token, void(error_code, lease)>(
            [of = permits_](auto handler, detail::permits_wish wanted) {
                start_acquire(of, wanted, std::move(handler));
            },
            token, std::move(how));
    }
    template <typename Token>
    auto initiate_try_lease(detail::permits_wish how, Token&& token) {
        return asio::async_initiate<Token, void(error_code, std::optional<lease>)>(
            [of = permits_](auto handler, detail::permits_wish wanted) {
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

    std::optional<lease> take(const detail::permits_wish&);
    lease lease_of(const detail::permits_wish&);

    static void start_acquire(const shared_subject&, const detail::permits_wish&,
                              detail::lease_handler);
    static void start_try_acquire(const shared_subject&, const detail::permits_wish&,
                                  detail::maybe_lease_handler);
    static void start_held(shared_counter, counter_verb, std::string permit_id, duration lasts,
                           detail::flag_handler);
    static void start_taken(shared_counter, detail::number_handler);

    shared_subject permits_;
};

} // namespace holdfast
