// SPDX-License-Identifier: Apache-2.0
// The store seam: all that a lock asks of a store. One shape for memory, Redis, MySQL, ZooKeeper.
//
//   line_up ──▶ look ──granted──▶ a hold ── renew, renew … ──▶ release
//                │ ▲                 │ doubt: renew at once, its answer decides
//           busy │ │ wake rings      ▼
//                ▼ │               lost (refused, or its term ran out)
//                wait ── deadline, cancellation, error ──▶ leave
//
// Users need this header only to write a store of their own. Everything here is called on the
// client's executor, one step at a time.
#pragma once

#include <holdfast/diagnosis.hpp>
#include <holdfast/inspection.hpp>
#include <holdfast/observer.hpp>
#include <holdfast/time.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast {

// Value types have constructors on purpose: g++ 12 frees an aggregate temporary twice when a
// co_await passes it on.

/// The name of a lock as users write it, and as stores see it after the client's name mapping.
/// Any bytes; what is allowed is checked before anything is sent.
struct lock_name {
    lock_name(std::string s)
        : text{std::move(s)} {}
    lock_name(std::string_view s)
        : text{s} {}
    lock_name(const char* s)
        : text{s} {}
    bool operator==(const lock_name&) const = default;
    std::string text;
};

/// One wire hold: 128 bits that name the client, and a number that it uses once.
struct owner_id {
    std::array<std::uint8_t, 16> client{};
    std::uint64_t number = 0;
    bool operator==(const owner_id&) const = default;
};

/// `<uuid>:<number>`, the text that stores and Redisson see.
HOLDFAST_EXPORT std::string to_string(const owner_id&);

enum class lock_kind { plain, fair, fenced, read, write };

struct hold {
    hold(lock_name n, owner_id o, lock_kind k)
        : name{std::move(n)}
        , owner{o}
        , kind{k} {}
    lock_name name;
    owner_id owner;
    lock_kind kind;
};

/// Some holds, each where it is anyway: nothing is copied to ask about a hundred thousand.
using hold_list = std::span<const hold* const>;

struct ask : hold {
    using hold::hold;
    duration lease_time{};   ///< a session store answers with what its session still has
    time_point give_up_at{}; ///< no look after the first may be granted later, not even by a
                             ///< stalled server; the first has the store's whole time limit
};

struct answer {
    bool granted = false;    ///< for renew: still ours
    duration term{};         ///< granted: counts from before the call. Busy: look again within this
    std::uint64_t token = 0; ///< fencing token of the grant; 0 where store or kind has none
};

/// What came of a release.
struct release_answer {
    bool was_ours = false;      ///< it was held by this owner until now
    bool others_listen = false; ///< other clients wait for that lock, or did until lately
    explicit operator bool() const noexcept { return was_ours; }
};

/// One owner waiting for one lock. Where the store keeps a queue, this is a place in it.
class place {
public:
    virtual ~place() = default; ///< stops the ringing and sends nothing: call leave() first

    /// Asks once, and when busy has `wake` rung as soon as asking again may help: when it answers
    /// busy a second time, listening is set up and was checked again after. Idempotent: after a
    /// lost answer, look again. Lines up first where the store queues.
    virtual asio::awaitable<answer> look() = 0;

    /// Afterwards this owner has neither a place nor a hold, but for a look that may still be on
    /// its way (see settled_at).
    virtual asio::awaitable<void> leave() = 0;

    /// Whether the store may have anything of this owner: a hold, a place in a queue, a mark that
    /// it waits. Whoever gives the place up calls leave() then; leave() may be repeated.
    virtual bool must_leave() const noexcept = 0;

    /// Whether a look was sent whose answer is not known. Then the owner may hold the lock.
    virtual bool uncertain() const noexcept = 0;

    /// No look of this place, answered or not, is granted after this moment. Whoever leaves an
    /// uncertain place releases once more when it has passed.
    virtual time_point settled_at() const noexcept = 0;
};

/// What is asked of all holds of one renewal.
struct renewal_wishes {
    duration lease_time{}; ///< zero asks whether they are still ours and extends nothing
    /// An answer that comes later is of no use any more: the request ends with outcome_unknown.
    time_point answer_by = time_point::max();
    /// An earlier request about them was not answered: another connection is to be used, if there
    /// is a choice.
    bool elsewhere = false;
};

/// Receives, on the executor, what came of each hold of a renewal: each is reported exactly once,
/// as soon as it is known. `which` is its place in the list.
class renewal_sink {
public:
    /// Whether it is still ours; then the term counts from before the request.
    virtual void renewed(std::size_t which, const answer&) = 0;
    /// What the caller knows afterwards: see lock_store.
    virtual void failed(std::size_t which, const boost::system::system_error&) = 0;

protected:
    ~renewal_sink() = default;
};

/// What came of the renewal of a single hold.
class single_renewal final : public renewal_sink {
public:
    void renewed(std::size_t, const answer& got) override { said_ = got; }
    void failed(std::size_t, const boost::system::system_error& why) override { why_ = why; }

    /// Throws what it failed with.
    const answer& said() const {
        if (why_)
            throw boost::system::system_error{*why_};
        return said_.value();
    }

private:
    std::optional<answer> said_;
    std::optional<boost::system::system_error> why_;
};

/// Told, on the executor, that a hold may be gone: then the store is asked at once.
class doubter {
public:
    virtual void doubt() noexcept = 0;

protected:
    ~doubter() = default;
};

/// Tells a doubter while it lives.
class watch {
public:
    virtual ~watch() = default;
};

/// What a store can carry, checked before I/O.
struct limits {
    duration lease_min{1};
    duration lease_max = std::chrono::hours{24 * 3652}; // ten years
    std::size_t name_bytes_max = 64 * 1024;
};

/// Every call ends within the store's own time limit. It answers, or it throws
/// `boost::system::system_error`: `errc::unreachable` and `errc::refused` promise that nothing was
/// done, after anything else the caller knows nothing. A ring is a hint; only answers and the
/// clock decide.
class lock_store {
public:
    virtual ~lock_store() = default;

    virtual bool offers(lock_kind) const noexcept = 0;
    virtual limits bounds() const noexcept = 0;

    /// Why this store cannot carry `name`, or nothing. No I/O.
    virtual std::optional<std::string> objection_to(const lock_name& name) const = 0;

    /// No I/O yet. `wake` must outlive the place.
    virtual std::unique_ptr<place> line_up(ask, alarm& wake) = 0;

    /// Reports each hold to the sink, failures too, in batches as the store likes, and throws
    /// nothing. Never makes a hold that is gone, never shortens one, and never lets trouble with
    /// one name, or one batch, spoil the others' answers. The list, what it names, the wishes and
    /// the sink live until this has completed.
    virtual asio::awaitable<void> renew(hold_list, const renewal_wishes&, renewal_sink&) = 0;

    /// Idempotent.
    virtual asio::awaitable<release_answer> release(hold) = 0;

    /// Tells `whom` when the hold may be gone, where the store can know that. May be null.
    virtual std::unique_ptr<watch> watch_over(const hold&, doubter& whom) = 0;
};

/// Who holds a lock, as the store tells it.
struct holding {
    std::vector<std::string> owners;   ///< in the store's own spelling; Redisson's holders too
    std::optional<duration> remaining; ///< of the lease; empty if it has no end
};

/// What came of taking a lock away from whoever held it.
struct forced {
    bool was_locked = false; ///< by those, and is free now
    /// Nothing was done if it was not locked: then these hold it, if anybody does. Those of a lock
    /// that very many share may be some of them.
    std::vector<std::string> owners{};
};

/// The operator's view: is it locked, by whom, for how long; force it.
class inspector {
public:
    virtual ~inspector() = default;
    virtual asio::awaitable<std::optional<holding>> inspect(lock_name) = 0; ///< nothing: free

    /// Takes the lock away from `only_from` (in the store's own spelling), or from whoever holds it
    /// if that is empty; whoever waits for a lock of that name is told, in each form that the store
    /// knows. What is carried out after the store's time limit takes nothing away. Without
    /// `only_from`, repeating it after an unknown outcome may end the hold of somebody else.
    virtual asio::awaitable<forced> force_release(lock_name, std::string only_from) = 0;

    /// All that is known of what is kept under that name; nothing: it is free.
    virtual asio::awaitable<std::optional<lock_state>> describe(lock_name) = 0;

    /// The locks that are held and whose names match a glob pattern (`*`, `?`, `[…]`, `\\`): at
    /// most `limit`, in the order of their names, and bounded in what it asks of the store.
    virtual asio::awaitable<lock_list> list(std::string pattern, std::size_t limit) = 0;

    /// Rings `wake` when the lock may have become free, as long as what it answers lives. Releases
    /// after the answer are heard; null: they cannot be for now.
    virtual asio::awaitable<std::unique_ptr<watch>> listen(lock_name, alarm& wake) = 0;
};

/// Which server keeps a name, as far as it tells: for those who ask several.
struct server_identity {
    std::string id{}; ///< the same for the same server, whichever way it is reached; empty: unknown
    /// It may have forgotten what was before that. Empty: it forgets nothing, or nobody can tell.
    std::optional<time_point> forgets_before{};
};

/// One store, reached. Closing fails what is under way.
class store {
public:
    virtual ~store() = default;
    virtual lock_store& locks() noexcept = 0;
    virtual inspector& operators_view() noexcept = 0;
    virtual void close() noexcept = 0;

    /// Which server keeps `name`, as the last connection to it was told. No I/O.
    virtual server_identity identity(const lock_name&) const { return {}; }

    /// Takes away what only says that this client is here. Ends soon, whatever the server does.
    virtual asio::awaitable<void> depart() { co_return; }

    /// As `client::doctor`: trouble is a finding and not thrown.
    virtual asio::awaitable<std::vector<finding>> examine(ask trial) = 0;
};

/// What a store is given to work with. All references outlive the store.
struct store_context {
    asio::any_io_executor executor; ///< a strand, or one thread's: one step at a time
    clock& time;
    std::function<std::uint64_t()> random;  ///< jitter; seeded in a simulation
    std::array<std::uint8_t, 16> client{};  ///< this client's identity
    std::string label;                      ///< for people: shown where servers list clients
    duration poll_bound{};                  ///< longest sleep of a waiter that hears nothing
    std::function<void(const event&)> tell; ///< reconnected and the like; any moment
    duration lease_time = std::chrono::seconds{30}; ///< of holds that say nothing else
    bool announce = true; ///< as in the options, where the store can carry it

    /// To be called after each reconnection, on the executor: the server may have forgotten the
    /// holds whose names `which` picks (empty: all). Urgent where it is another server, or the
    /// same one started anew, or nobody knows: then they are asked for at once.
    std::function<void(const std::function<bool(const lock_name&)>& which, bool urgent)> doubt{};

    /// Whether this client holds anything: then reconnecting is tried more often. On the executor.
    std::function<bool()> holds_any{};
};

using store_factory = std::function<std::unique_ptr<store>(store_context)>;

} // namespace holdfast
