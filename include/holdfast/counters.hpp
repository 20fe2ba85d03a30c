// SPDX-License-Identifier: Apache-2.0
// Store interface for counters: semaphores, latches and rate limiters. Nobody holds a counter.
// Locks have their own interface in store.hpp. Both interfaces create a `place`, so the same loop
// waits for locks and for counters.
//
// Users need this header only to write a store of their own. All functions are called on the
// client's executor, one at a time, except `offers()`, `objection_to()` and `memory()`: any thread
// may call these.
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

/// Greatest value of a counter. Redisson's numbers have 32 bits.
inline constexpr std::int64_t counted_max = 2'147'483'647;

/// Settings of a rate limiter: how many permits may be drawn in which time.
struct rate {
    enum class scope_of : std::uint8_t {
        overall,   ///< the rate is for all clients together
        per_client ///< each client has the whole rate for itself
    };
    std::int64_t permits = 0; ///< maximum in any interval of length `per`: 1 to `counted_max`
    duration per{};           ///< length of the interval, at least 1 ms
    scope_of scope = scope_of::overall;
    /// Time without use after which the rate is deleted, not shorter than `per`. Zero: never.
    duration kept{};
    bool operator==(const rate&) const = default;
};

/// Ways to change a counter. A latch supports `set_new`, `count_down` and `erase`. `permits`
/// support `add`, `take_back`, `set_new`, `set`, `erase`, `give_back` and `set_lease`. A rate
/// limiter supports `set_new`, `set`, `add` (gives back permits that anybody drew) and `erase`.
enum class counter_verb : std::uint8_t {
    add,          ///< adds; a semaphore that does not exist begins at zero; also its release()
    add_if_there, ///< adds only if the counter exists
    take_back,    ///< subtracts, below zero if necessary: addPermits() with a negative number
    drain,        ///< takes all that is available
    set_new,      ///< sets only if the counter does not exist
    set,          ///< sets in any case; for `permits`: the total, including held permits
    /// Subtracts from a latch, not below zero; at zero the latch is deleted, so it is open.
    count_down,
    erase,
    give_back, ///< of `permits`: gives back one held permit, whoever holds it
    set_lease, ///< of `permits`: sets the end of one held permit, whoever holds it
};

/// Request to take `amount` from a counter, or to wait until a latch is open. `request` is a
/// request number that is used for one request only. The store executes the request at most once,
/// even if it is repeated.
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
    time_point give_up_at{};   ///< as in `ask`
    std::uint8_t replicas = 0; ///< as in `hold`: replicas that must confirm what is taken
};

/// Request to change a counter. `request` is a request number, as in `counter_ask`.
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
    std::int64_t most = 0; ///< add: if there would be more than this, nothing is done; 0: no limit
    /// For set_new: the counter is deleted after this time; zero: never. For set_lease: the new
    /// length.
    duration kept{};
    std::string permit{};      ///< give_back, set_lease: the permit, as `permit_id` writes it
    rate to{};                 ///< set_new, set: of a rate limiter
    std::uint8_t replicas = 0; ///< as in `hold`: replicas that must confirm the change
};

/// Reply of the store to a change.
struct counter_answer {
    /// For set_new: true if the counter did not exist. For add_if_there and erase: true if it
    /// existed. For count_down: true if this call opened the latch. For give_back and set_lease:
    /// true if that permit was held.
    bool done = false;
    bool beyond = false;    ///< nothing was done: the value would exceed `most` or the maximum
    std::int64_t value = 0; ///< drain: the number taken; otherwise the current value
    bool others_listen = false;
};

/// State of a counter, as the store reported it.
struct counter_state {
    bool exists = false;
    std::int64_t value = 0; ///< free permits, or the count of the latch
    std::int64_t taken = 0; ///< of `permits`: the number of held permits
    /// Number of connections that wait for the counter. Each is a client with one or more waiting
    /// calls, or a client that waited a few seconds ago. Empty: the store does not report the
    /// number.
    std::optional<std::size_t> listeners{};
    rate of{}; ///< settings of a rate limiter
};

/// The counters of one kind that `client::list()` found, in the order of their names.
struct counter_list {
    struct entry {
        std::string name; ///< name at the store, with the client's prefix
        counter_state state;
    };
    std::vector<entry> counters{};
    /// False: there are more counters, the store has too many keys to scan, or some servers could
    /// not be asked.
    bool complete = true;
    std::vector<std::string> unreachable{}; ///< as in `lock_list`
};

/// Interface of a store for counters. The promises of `lock_store` about timeouts and errors hold
/// here too.
///
/// *At most once.* A change, and what a place takes, is executed at most once for its request
/// number, even if the request is repeated. The store remembers each request for `memory()`. To a
/// repeated request it sends the same reply as the first time. It also writes again, so that
/// replicas confirm the result. If the store cannot remember a request, the call fails with
/// `errc::refused` before anything is done, or with `errc::outcome_unknown`.
class counter_store {
public:
    virtual ~counter_store() = default;

    virtual bool offers(counter_kind) const noexcept = 0;

    /// Returns why this store cannot have a counter of that name, or nothing if it can. Sends
    /// nothing.
    virtual std::optional<std::string> objection_to(const lock_name&, counter_kind) const = 0;

    /// Creates a waiter for the request; sends nothing yet. `wake` must outlive the place. look()
    /// takes the amount, or checks whether the latch is open. leave() gives back what may have been
    /// taken; a look() that the store executes later takes nothing.
    virtual std::unique_ptr<place> line_up(counter_ask, alarm& wake) = 0;

    /// Changes the counter. After an unknown outcome, repeat the call with the same request number,
    /// for at most `memory() / 2`.
    virtual asio::awaitable<counter_answer> change(counter_change) = 0;

    /// Tells the store that the change with this request number has ended: it was answered, or will
    /// not be repeated. A copy that is still on its way may be executed or not.
    virtual void end_change(const lock_name&, const owner_id& /*request*/) noexcept {}

    virtual asio::awaitable<counter_state> inspect(lock_name, counter_kind) = 0;
    /// Lists at most `limit` counters of that kind whose names match a glob pattern; see
    /// `client::list()`.
    virtual asio::awaitable<counter_list> list(counter_kind, std::string pattern,
                                               std::size_t limit) = 0;

    /// Returns how long the outcome of a request is remembered.
    virtual duration memory() const noexcept = 0;
};

} // namespace holdfast
