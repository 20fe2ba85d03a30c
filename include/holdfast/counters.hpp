// SPDX-License-Identifier: Apache-2.0
// Store interface for counters: semaphores, latches and rate limiters. No client holds a counter.
// Locks have their own interface in store.hpp. Both interfaces create waiters of the same type
// (`place`), so the same loop waits for locks and for counters.
//
// Users need this header only to write a store of their own. All functions are called on the
// client's executor, one at a time, except `offers()`, `objection_to()` and `memory()`. These three
// functions may be called on any thread.
#pragma once

#include <holdfast/store.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace holdfast {

/// Kinds of counters. `permits` is the number of free permits of a `leased_semaphore`.
enum class counter_kind : std::uint8_t { semaphore, permits, latch, rate };

/// Returns the name of the kind for messages: "a semaphore", "a leased semaphore", "a latch" or "a
/// rate limiter".
HOLDFAST_EXPORT const char* words_for(counter_kind) noexcept;

/// Greatest value of a counter. This is the greatest signed 32-bit number, because Redisson's
/// counters have 32 bits.
inline constexpr std::int64_t counted_max = 2'147'483'647;

/// Settings of a rate limiter: at most `permits` permits can be taken in any interval of length
/// `per`.
struct rate {
    enum class scope_of : std::uint8_t {
        overall,   ///< all clients together share the rate
        per_client ///< each client has the whole rate for itself
    };
    std::int64_t permits = 0; ///< maximum in any interval of length `per`: 1 to `counted_max`
    duration per{};           ///< length of the interval, at least 1 ms
    scope_of scope = scope_of::overall;
    /// If nobody uses the limiter for this time, the store deletes its rate. The time must not be
    /// shorter than `per`. With zero, the store never deletes the rate.
    duration kept{};
    bool operator==(const rate&) const = default;
};

/// Ways to change a counter. A latch supports `set_new`, `count_down` and `erase`. A leased
/// semaphore (`permits`) supports `add`, `take_back`, `set_new`, `set`, `erase`, `give_back` and
/// `set_lease`. A rate limiter supports `set_new`, `set`, `add` (gives back permits that any client
/// has taken) and `erase`.
enum class counter_verb : std::uint8_t {
    add, ///< adds; if the semaphore does not exist, creates it with zero first; used by release()
    add_if_there, ///< adds only if the counter exists
    take_back,    ///< subtracts, also below zero; used by add_permits() with a negative number
    drain,        ///< takes all available permits
    set_new,      ///< sets only if the counter does not exist
    set,          ///< sets in any case; for kind `permits`: the total, including held permits
    /// Reduces the count of a latch, but not below zero. At zero, the store deletes the latch, so
    /// the latch is open.
    count_down,
    erase,
    give_back, ///< for kind `permits`: gives back one held permit of any holder
    set_lease, ///< for kind `permits`: sets the expiry of one held permit of any holder
};

/// Request to take `amount` from a counter, or to wait until a latch is open. `request` identifies
/// this request: no other request has the same number. The store executes the request at most once,
/// even if the client sends it again.
struct counter_ask {
    counter_ask(lock_name n, owner_id r, counter_kind k, std::int64_t much)
        : name{std::move(n)}
        , request{r}
        , kind{k}
        , amount{much} {}
    lock_name name;
    owner_id request;
    counter_kind kind;
    std::int64_t amount;
    time_point give_up_at{};   ///< deadline of the request; see `ask`
    std::uint8_t replicas = 0; ///< number of replicas that must confirm the change; see `hold`
};

/// Request to change a counter. `request` identifies this request: no other request has the same
/// number.
struct counter_change {
    counter_change(lock_name n, owner_id r, counter_kind k, counter_verb v, std::int64_t much = 0)
        : name{std::move(n)}
        , request{r}
        , kind{k}
        , verb{v}
        , amount{much} {}
    lock_name name;
    owner_id request;
    counter_kind kind;
    counter_verb verb;
    std::int64_t amount;
    /// For `add`: maximum value of the counter after the addition. If the sum would be greater, the
    /// store changes nothing. 0 means no limit.
    std::int64_t most = 0;
    /// For `set_new`: time after which the store deletes the counter; with zero, the store never
    /// deletes it. For `set_lease`: the new length of the lease.
    duration kept{};
    /// For give_back and set_lease: id of the permit, in the form of `permit_id`.
    std::string permit{};
    rate to{};                 ///< for set_new and set of a rate limiter: the new rate
    std::uint8_t replicas = 0; ///< number of replicas that must confirm the change; see `hold`
};

/// Reply of the store to a change.
struct counter_answer {
    /// For set_new: true if the counter did not exist before. For add_if_there and erase: true if
    /// the counter existed. For count_down: true if this call opened the latch. For give_back and
    /// set_lease: true if the permit was held.
    bool done = false;
    bool beyond = false; ///< not changed: the value would exceed `most` or `counted_max`
    /// For drain: the number of permits that the call took. For the other changes: the value after
    /// the change.
    std::int64_t value = 0;
    bool others_listen = false;
};

/// State of a counter, as the store reported it in its reply.
struct counter_state {
    bool exists = false;
    std::int64_t value = 0; ///< free permits, or the count of the latch
    std::int64_t taken = 0; ///< for kind `permits`: the number of held permits
    /// Number of connections that wait for the counter. Each connection belongs to a client that
    /// has waiting calls, or had such calls a few seconds ago. Empty if the store does not report
    /// the number.
    std::optional<std::size_t> listeners{};
    rate of{}; ///< the rate of a rate limiter
};

/// The counters of one kind that `client::list()` found, sorted by name.
struct counter_list {
    struct entry {
        std::string name; ///< name at the store, with the client's prefix
        counter_state state;
    };
    std::vector<entry> counters{};
    /// False if the list is incomplete. The reason can be that there are more counters, that the
    /// store has too many keys to scan, or that some servers could not be asked.
    bool complete = true;
    /// One error text for each server that could not be asked.
    std::vector<std::string> unreachable{};
};

/// Interface of a store for counters. Timeouts and errors have the same meaning as in `lock_store`.
///
/// *At most once.* The store executes a request at most once per request number, even if the client
/// repeats the request. This holds for changes and for the attempts of a waiter (`place`). The
/// store remembers each request for `memory()`. It replies to a repeated request with the first
/// reply. For a repeated request the store also writes again, so that replicas confirm the result.
/// If the store cannot remember a request, the call fails with `errc::refused` before anything is
/// done, or with `errc::outcome_unknown`.
class counter_store {
public:
    virtual ~counter_store() = default;

    virtual bool offers(counter_kind) const noexcept = 0;

    /// Returns a reason if this store cannot have a counter with the given name. Returns nothing if
    /// the store can have such a counter. Sends no request.
    virtual std::optional<std::string> objection_to(const lock_name&, counter_kind) const = 0;

    /// Creates a waiter for the request; sends nothing yet. The alarm `wake` must outlive the
    /// waiter. The waiter's function look() takes the amount, or checks whether the latch is open.
    /// The waiter's function leave() gives back the permits that a call of look() may have taken.
    /// If the store executes the request of leave() first, the delayed request of look() takes
    /// nothing.
    virtual std::unique_ptr<place> line_up(counter_ask, alarm& wake) = 0;

    /// Changes the counter. If the outcome is unknown, repeat the call with the same request
    /// number, but only for the time `memory() / 2`.
    virtual asio::awaitable<counter_answer> change(counter_change) = 0;

    /// Tells the store that the client will not send the change with this request number again, for
    /// example because the reply has arrived. If a copy of the request is still on its way, the
    /// store may execute the copy or ignore it.
    virtual void end_change(const lock_name&, const owner_id& /*request*/) noexcept {}

    virtual asio::awaitable<counter_state> inspect(lock_name, counter_kind) = 0;
    /// Lists at most `limit` counters of the given kind whose names match a glob pattern, by the
    /// rules of `inspector::list()`. Leaves out leased semaphores of which no permit is held.
    virtual asio::awaitable<counter_list> list(counter_kind, std::string pattern,
                                               std::size_t limit) = 0;

    /// Returns for how long the store remembers the outcome of a request.
    virtual duration memory() const noexcept = 0;
};

} // namespace holdfast
