// SPDX-License-Identifier: Apache-2.0
// The second seam: what a store counts, and nobody holds. A semaphore's permits, a latch's count, a
// rate. Both seams hand out the same `place`, so one loop waits for both (store.hpp).
//
// Users need this header only to write a store of their own. Everything here is called on the
// client's executor, one step at a time, except `offers()`, `objection_to()` and `memory()`: any
// thread may call these.
#pragma once

#include <holdfast/store.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace holdfast {

/// What counts. `permits`: those of a leased semaphore that nobody has.
enum class counter_kind : std::uint8_t { semaphore, permits, latch, rate };

/// The word for such a counter in messages: "a semaphore", "a leased semaphore", "a latch" or
/// "a rate limiter".
HOLDFAST_EXPORT const char* words_for(counter_kind) noexcept;

/// There are at most so many of anything that is counted: Redisson's numbers have 32 bits.
inline constexpr std::int64_t counted_max = 2'147'483'647;

/// How many permits a rate limiter lets be drawn in which time.
struct rate {
    enum class scope_of : std::uint8_t {
        overall,   ///< by all clients together
        per_client ///< by each for itself
    };
    std::int64_t permits = 0; ///< so many in any interval of that length: 1 to `counted_max`
    duration per{};           ///< at least 1 ms
    scope_of scope = scope_of::overall;
    duration kept{}; ///< unused for so long it is gone; zero: it stays; else no shorter than `per`
    bool operator==(const rate&) const = default;
};

/// A change of a counter. Of a latch: `set_new`, `count_down`, `erase`. Of permits: `add`,
/// `take_back`, `set_new`, `set`, `erase`, and those behind it. Of a rate limiter: `set_new`,
/// `set`, `add` (gives back what anybody drew), `erase`.
enum class counter_verb : std::uint8_t {
    add,          ///< of a semaphore: release, too; one that is not there begins at zero
    add_if_there, ///< not if there is none
    take_back,    ///< as many fewer, below zero if need be: addPermits() of a negative number
    drain,        ///< all that there are
    set_new,      ///< only if there is none
    set,          ///< whether there is one or not; of permits: so many in all, those held too
    count_down,   ///< of a latch, down to zero at most; at zero it is gone, which is open
    erase,
    give_back, ///< of permits: one that is held, whoever has it
    set_lease, ///< of permits: one that is held, whoever has it, ends after that
};

/// So much is wanted of a counter; of a latch: that it is open. `request` is used once: whatever is
/// asked under it is carried out at most once.
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
    std::uint8_t replicas = 0; ///< as in `hold`: so many must have confirmed what it takes
};

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
    std::int64_t most = 0; ///< add: nothing is done if there were more then; 0: as many as can be
    /// set_new: it goes by itself after that; zero: it stays. set_lease: so long
    duration kept{};
    std::string permit{};      ///< give_back, set_lease: which, as `permit_id` writes it
    rate to{};                 ///< set_new, set: of a rate limiter
    std::uint8_t replicas = 0; ///< as in `hold`: so many must have confirmed it
};

struct counter_answer {
    /// set_new: there was none; add_if_there, erase: there was one; count_down: it is open now, and
    /// was not before; give_back, set_lease: that permit was held.
    bool done = false;
    bool beyond = false;    ///< nothing was done: there would be more than `most`, or than can be
    std::int64_t value = 0; ///< drain: so many there were; else, so many there are now
    bool others_listen = false;
};

struct counter_state {
    bool exists = false;
    std::int64_t value = 0; ///< permits left, or the latch's count
    std::int64_t taken = 0; ///< of permits: so many are held
    /// Connections that wait for it: each is a client with one or more waiting callers, or one that
    /// waited a few seconds ago. Empty if the store does not report them.
    std::optional<std::size_t> listeners{};
    rate of{}; ///< what a rate limiter is set to
};

/// The counters of one kind that `client::list()` found, in the order of their names.
struct counter_list {
    struct entry {
        std::string name; ///< in the store: with the client's prefix
        counter_state state;
    };
    std::vector<entry> counters{};
    bool complete = true; ///< false: there are more, or the store has too many keys to look at,
                          ///< or not all servers could be asked
    std::vector<std::string> unreachable{}; ///< as in `lock_list`
};

/// Amounts. The promises of `lock_store` about time limits and errors hold here too.
///
/// *At most once.* A change, and what a place takes, is carried out at most once under its request
/// number, however often it is asked for: the store remembers the request for `memory()`, and
/// answers it as it did the first time (and writes, so that replicas confirm what was done). Where
/// it cannot remember, it says so: it fails with
/// `errc::refused` before anything is done, or with `errc::outcome_unknown`.
class counter_store {
public:
    virtual ~counter_store() = default;

    virtual bool offers(counter_kind) const noexcept = 0;

    /// Why this store cannot have a counter of that name; empty: it can. No I/O.
    virtual std::optional<std::string> objection_to(const lock_name&, counter_kind) const = 0;

    /// No I/O yet; `wake` must outlive the place. look() takes the amount, or sees that the latch
    /// is open. leave() gives back what it may have taken, and no late look takes it afterwards.
    virtual std::unique_ptr<place> line_up(counter_ask, alarm& wake) = 0;

    /// Repeat it after an unknown outcome with the same request number, for `memory() / 2` at most.
    virtual asio::awaitable<counter_answer> change(counter_change) = 0;

    /// The change of that request number is over: it was answered, or it will not be asked again.
    /// A copy that is still on its way may be carried out or not.
    virtual void end_change(const lock_name&, const owner_id& /*request*/) noexcept {}

    virtual asio::awaitable<counter_state> inspect(lock_name, counter_kind) = 0;
    /// At most `limit` of that kind whose names match a glob pattern; see `client::list()`.
    virtual asio::awaitable<counter_list> list(counter_kind, std::string pattern,
                                               std::size_t limit) = 0;

    /// So long the outcome of a request is remembered.
    virtual duration memory() const noexcept = 0;
};

} // namespace holdfast
