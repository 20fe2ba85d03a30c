// SPDX-License-Identifier: Apache-2.0
// The store seam: everything that a lock needs from a store. It has one shape for memory, Redis,
// MySQL, ZooKeeper.
//
//   line_up ──▶ look ──granted──▶ a hold ── renew, renew … ──▶ release
//                │ ▲                 │ doubt: renew at once, its answer decides
//           busy │ │ wake rings      ▼
//                ▼ │               lost (refused, or its term ran out)
//                wait ── deadline, cancellation, error ──▶ leave
//
// Users need this header only to write a store of their own. Everything here is called on the
// client's executor, one step at a time, except `bounds()` and `objection_to()`: any thread may
// call these.
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

/// The name of a lock: as users write it, or as stores have it after the client's name mapping.
/// Any bytes; a name that the store does not allow is refused before anything is sent.
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

/// The owner of one hold: 128 bits that name the client, and a number that it uses once.
struct owner_id {
    std::array<std::uint8_t, 16> client{};
    std::uint64_t number = 0;
    bool operator==(const owner_id&) const = default;
};

/// `<uuid>:<number>`, the text that stores and Redisson see.
HOLDFAST_EXPORT std::string to_string(const owner_id&);

/// The id of the permit of that number: 32 hexadecimal digits, as Redisson writes one for users.
/// The first ten of its bytes are the client's, the last six the number's.
HOLDFAST_EXPORT std::string permit_id(const owner_id&);

/// What is held. `plain`, `spin` and `fenced` keep the same key and exclude each other. Programs
/// that know neither holdfast nor Redisson may hold a `token`, too; they tell nobody when they
/// release.
enum class lock_kind : std::uint8_t { plain, spin, fenced, fair, read, write, token, permit };

/// The word for such a lock in messages: "a mutex" for `plain`, `spin`, `fenced` and `fair`, which
/// share names; "a read-write lock", "a token lock" or "a leased semaphore" for the others.
HOLDFAST_EXPORT const char* words_for(lock_kind) noexcept;

/// Throws `store_errc::wrong_type` for a name that `there` has, when `wanted` was asked for.
[[noreturn]] HOLDFAST_EXPORT void throw_wrong_type(std::string_view there, std::string_view wanted);

struct hold {
    hold(lock_name n, owner_id o, lock_kind k)
        : name{std::move(n)}
        , owner{o}
        , kind{k} {}
    lock_name name;
    owner_id owner;
    lock_kind kind;
    /// Of kind permit: it has so many, under the owner's number and those behind it. All of them
    /// are there, or it is not held any more.
    std::uint32_t permits = 1;
    /// So many replicas of its server must have confirmed a grant or a renewal before it counts.
    /// Short of it, the call fails with `store_errc::not_replicated`: the store may have the hold.
    std::uint8_t replicas = 0;
};

/// How the tokens of a fenced lock grow: by one, or to the server's time in µs where that is more.
/// `dated` tokens grow although the server lost all that it had, as long as its clock is not
/// behind.
enum class fencing : std::uint8_t { counted, dated };

/// Pointers to holds, so that a request about a hundred thousand of them copies none.
using hold_list = std::span<const hold* const>;

struct ask : hold {
    using hold::hold;
    duration lease_time{};    ///< a store with sessions answers with the rest of its session
    time_point give_up_at{};  ///< no look after the first may be granted later, not even by a
                              ///< stalled server; the first has the store's whole time limit
    bool waits = true;        ///< false: one look, and no place in a queue of the store
    duration outlasts{};      ///< fair: how long a place outlives its owner's last look
    std::uint32_t tokens = 1; ///< fenced: how many are reserved; the answer's is the first
    fencing numbers = fencing::counted;
    std::uint64_t under = 0; ///< read, write: it shall stand beside this client's hold of that
                             ///< number, which has the other kind; 0: beside none
    duration head_start{};   ///< write: the store's own, for when the last reader has left
};

struct answer {
    bool granted = false;     ///< for renew: the owner still holds it
    duration term{};          ///< granted: counts from before the call; busy: look again within it
    std::uint64_t token = 0;  ///< fencing token of the grant; 0 where store or kind has none
    std::uint32_t tokens = 0; ///< the grant has so many, from `token` on; each heir needs another
    /// How long the store would have kept it before this request: the hold that is renewed, or for
    /// a grant, those of others that share it. Empty: unknown, or only its own client changes that.
    std::optional<duration> left_before{};
    /// The store said whether the lock is free. False: it was not asked, or its answer came too
    /// late to say; then an earlier failure still stands.
    bool answered = true;
};

/// The outcome of a release.
struct release_answer {
    bool was_ours = false;      ///< it was held by this owner until now
    bool others_listen = false; ///< other clients wait for that lock, or did until lately
    explicit operator bool() const noexcept { return was_ours; }
};

/// One owner that waits for one lock. If the store keeps a queue, this is a place in it.
class place {
public:
    virtual ~place() = default; ///< stops the ringing and sends nothing: call leave() first

    /// Asks once. If the lock is busy, `wake` rings as soon as it may help to ask again: before the
    /// place answers busy for the second time, it begins to listen, and then asks. Idempotent:
    /// after a lost answer, look again. If the store keeps a queue, the place lines up first. Every
    /// look that is granted writes, a repetition too: what replicas confirm is then this grant.
    virtual asio::awaitable<answer> look() = 0;

    /// Afterwards this owner has neither a place nor a hold, unless a look is still on its way (see
    /// settled_at).
    virtual asio::awaitable<void> leave() = 0;

    /// Whether the store may have anything of this owner: a hold, a place in a queue, a mark that
    /// it waits. Then call leave() before you give up the place; leave() may be repeated.
    virtual bool must_leave() const noexcept = 0;

    /// Whether a look was sent and its answer is not known. Then the owner may hold the lock.
    virtual bool uncertain() const noexcept = 0;

    /// No look of this place, answered or not, is granted after this moment. After you have left an
    /// uncertain place, release once more when this moment has passed. It is past where a new
    /// connection fences the one before.
    virtual time_point settled_at() const noexcept = 0;
};

/// The request for all holds of one renewal.
struct renewal_wishes {
    duration lease_time{}; ///< zero: only ask whether they are still held; no replica confirms that
    /// A later answer is of no use: a request that was sent then ends with outcome_unknown.
    time_point answer_by = time_point::max();
    /// An earlier request about them was not answered: use another connection, if there is a
    /// choice.
    bool elsewhere = false;
};

/// Receives, on the executor, the outcome for each hold of a renewal: exactly once, as soon as it
/// is known. `which` is the place of the hold in the list.
class renewal_sink {
public:
    /// The store answered whether it is still held. If so, the term counts from before the request.
    virtual void renewed(std::size_t which, const answer&) = 0;
    /// `lock_store` says what the caller knows after each error.
    virtual void failed(std::size_t which, const boost::system::system_error&) = 0;

protected:
    ~renewal_sink() = default;
};

/// The outcome of the renewal of a single hold.
class single_renewal final : public renewal_sink {
public:
    void renewed(std::size_t, const answer& got) override { said_ = got; }
    void failed(std::size_t, const boost::system::system_error& why) override { why_ = why; }

    /// Throws the error, if the renewal failed.
    const answer& said() const {
        if (why_)
            throw boost::system::system_error{*why_};
        return said_.value();
    }

private:
    std::optional<answer> said_;
    std::optional<boost::system::system_error> why_;
};

/// Is called, on the executor, when a hold may be gone: the store is then asked at once.
class doubter {
public:
    virtual void doubt() noexcept = 0;

protected:
    ~doubter() = default;
};

/// While it lives, a doubter is called, or an alarm rings.
class watch {
public:
    virtual ~watch() = default;
};

/// The limits of a store, checked before I/O.
struct limits {
    duration lease_min{1};
    duration lease_max = std::chrono::hours{24 * 3652}; // ten years
    std::size_t name_bytes_max = 64 * 1024;
    duration time_limit = std::chrono::seconds{3}; ///< every call of a lock_store ends within it
    /// Holds last as long as the client's session at the store: the term of an answer is the rest
    /// of that, whatever lease was asked for, and a renewal that only asks prolongs it as well. The
    /// engine ends each lease by its own clock, and releases it then. A release or a leaving that
    /// was not acknowledged is the store's to repeat, too, for as long as the session lives.
    bool by_session = false;
    std::uint8_t replicas_max = 0; ///< a hold may want so many; zero: the store asks no replicas
    /// Other programs may shorten a read hold at any time. So each one is contacted at least so
    /// often, also one with a fixed lease, and then asked for with what is left of its term.
    /// `duration::max()`: no other program does that.
    duration read_contact_max = duration::max();
    /// The usual length of an outage, which calls put up with: where another server has to take the
    /// place of one that died, that is longer.
    duration usual_outage = std::chrono::seconds{10};
};

/// Every call ends within the store's own time limit. It returns an answer, or it throws
/// `boost::system::system_error`. After `errc::unreachable`, `errc::refused` and `errc::overloaded`
/// nothing was done; after any other error, that is not known. A ring is a hint; only answers and
/// the clock decide.
class lock_store {
public:
    virtual ~lock_store() = default;

    virtual bool offers(lock_kind) const noexcept = 0;
    virtual limits bounds() const noexcept = 0;

    /// Why this store cannot have a lock of that name; empty: it can. No I/O.
    virtual std::optional<std::string> objection_to(const lock_name& name) const = 0;

    /// No I/O yet. `wake` must outlive the place.
    virtual std::unique_ptr<place> line_up(ask, alarm& wake) = 0;

    /// Reports each hold to the sink, failures too, in batches of the store's choice. It throws
    /// nothing. It never makes a hold that is gone, and never shortens one. An error of one name,
    /// or of one batch, does not change the others' answers. All of a list want the same number of
    /// replicas. The list, its holds, the wishes and the sink live until this has completed.
    virtual asio::awaitable<void> renew(hold_list, const renewal_wishes&, renewal_sink&) = 0;

    /// Idempotent.
    virtual asio::awaitable<release_answer> release(hold) = 0;

    /// Calls `whom` when the hold may be gone. Null: the store cannot notice that.
    virtual std::unique_ptr<watch> watch_over(const hold&, doubter& whom) = 0;
};

/// The holders of a lock, as the store reports them.
struct holding {
    std::vector<std::string> owners{};   ///< in the store's own spelling; Redisson's holders too
    std::optional<duration> remaining{}; ///< of the lease; empty if it has no end
    bool alone = true;   ///< one of them excludes all others: false where a lock is only shared
    bool shared = false; ///< some of them share it; the one that has it alone may do so, too
    bool tells = true;   ///< false: it is known that nobody will be told of the release
    key_kind kind = key_kind::lock;
    /// False if another program's names do not say whether a mutex or a read-write lock is held:
    /// kazoo names the nodes of both in the same way. `kind` is `lock` then.
    bool kind_is_certain = true;
    std::string other{}; ///< of kind other, which nobody holds: what has the name, for messages
};

/// The outcome of `inspector::force_release`.
struct forced {
    bool was_locked = false; ///< true: `owners` held it, and it is free now
    /// If `was_locked` is false, nothing was done: these hold the lock, if anybody does. If very
    /// many share a lock, these may be some of them.
    std::vector<std::string> owners{};
};

/// For operators: whether a lock is held, by whom, for how long; and taking it away.
class inspector {
public:
    virtual ~inspector() = default;
    /// Empty: it is free.
    virtual asio::awaitable<std::optional<holding>> inspect(lock_name) = 0;

    /// Takes the lock away from `only_from` (in the store's own spelling; a lock that is shared
    /// from all, if that owner is among them), or from any holder if that is empty, and wakes all
    /// waiters for a lock of that name, of each kind that the store has. A request that is carried
    /// out after the store's time limit takes nothing away. Without `only_from`, to repeat it after
    /// an unknown outcome may end somebody else's hold. Throws `store_errc::wrong_type` if
    /// something has the name that is no lock.
    virtual asio::awaitable<forced> force_release(lock_name, std::string only_from) = 0;

    /// The same for a lock of that kind only. Throws `store_errc::wrong_type` if another kind has
    /// the name (`words_for` tells which kinds are the same). `read` ends a lock only while it is
    /// shared and nobody has it alone, `write` only while somebody has it alone.
    virtual asio::awaitable<forced> force_kind(lock_name, lock_kind) = 0;

    /// No grant of a fenced lock of that name ever had a greater token: the last that was given
    /// away or reserved. Zero: none was, or the store has no tokens.
    virtual asio::awaitable<std::uint64_t> last_token(lock_name) { co_return 0; }

    /// Everything that the store reports about that name; empty: it is free, and nobody waits in a
    /// queue for it.
    virtual asio::awaitable<std::optional<lock_state>> describe(lock_name) = 0;

    /// The held locks whose names match a glob pattern (`*`, `?`, `[…]`, `\\`): at most `limit`, in
    /// the order of their names. The number of requests to the store is bounded.
    virtual asio::awaitable<lock_list> list(std::string pattern, std::size_t limit) = 0;

    /// Rings `wake` when the lock may have become free, while the returned watch lives: releases
    /// after the answer ring it, but not those that the store reports to one waiter or to nobody,
    /// as of a fair or a spin lock. Null: the store cannot report releases for now.
    virtual asio::awaitable<std::unique_ptr<watch>> listen(lock_name, alarm& wake) = 0;
};

/// Which server has a name, if the server says so: for clients that ask several servers.
struct server_identity {
    /// The same for the same server, whichever way it is reached, and no other's, of whatever kind.
    /// Empty: unknown.
    std::string id{};
    /// The server may have forgotten everything from before this moment. `time_point::min()`: it
    /// forgets nothing. Empty: that is not known, and a quorum with it is reported as impaired.
    std::optional<time_point> forgets_before{};
};

class counter_store; // counters.hpp

/// One store, as one client uses it. close() fails the calls that are under way.
class store {
public:
    virtual ~store() = default;
    virtual lock_store& locks() noexcept = 0;
    virtual counter_store* counters() noexcept { return nullptr; } ///< null: it has none
    virtual inspector& operators_view() noexcept = 0;
    virtual void close() noexcept = 0;

    /// Which server has `name`, as it said on the last connection. No I/O.
    virtual server_identity identity(const lock_name&) const { return {}; }

    /// Deletes this client's description of itself (`options::announce`). Ends soon, whatever the
    /// server does.
    virtual asio::awaitable<void> depart() { co_return; }

    /// As `client::doctor`: a problem is a finding, and not an exception.
    virtual asio::awaitable<std::vector<finding>> examine(ask trial) = 0;

    /// As `client::set_up`: makes what must be there before the first lock, and says what it made
    /// and what it found there already. Repeated, it changes nothing. Empty: this store needs
    /// nothing. Throws as the calls of `lock_store` do.
    virtual asio::awaitable<std::vector<finding>> set_up() { co_return std::vector<finding>{}; }
};

/// The things that a client gives to its store. All references outlive the store.
struct store_context {
    asio::any_io_executor executor; ///< a strand, or one thread's: one step at a time
    clock& time;
    std::function<std::uint64_t()> random;  ///< jitter; seeded in a simulation
    std::array<std::uint8_t, 16> client{};  ///< this client's identity
    std::string label;                      ///< for people: shown where servers list clients
    duration poll_bound{};                  ///< longest sleep of a waiter that gets no message
    std::function<void(const event&)> tell; ///< for `reconnected` and the like; any moment
    duration lease_time = std::chrono::seconds{30}; ///< of holds without one of their own
    bool announce = true;                           ///< as in the options, if the store can do it

    /// Call it after each reconnection, on the executor: the server may have forgotten the holds
    /// whose names `which` selects (empty: all). `urgent`: it is another server, or the same one
    /// after a restart, or that is not known. Then the store is asked about them at once.
    std::function<void(const std::function<bool(const lock_name&)>& which, bool urgent)> doubt{};

    /// Whether this client holds anything: then try more often to reconnect. On the executor.
    std::function<bool()> holds_any{};

    /// So long the outcome of a request that changes a counter is to be remembered.
    duration request_memory = std::chrono::seconds{60};

    /// A loop of the store's own keeps the result while it may wait on an alarm: the client's
    /// close() completes after that, since the clock may end then. Call it on the executor, and
    /// let go of the result there. Empty: nobody waits.
    std::function<std::shared_ptr<void>()> at_work{};

    /// Runs that on the executor. For threads that do not run the executor, since it may be
    /// destroyed while they try: they must not use `executor` itself. It may outlive the store.
    /// False: the client has closed or its executor has ended, and the work is destroyed unused.
    std::function<bool(asio::any_completion_handler<void()>)> post{};
};

using store_factory = std::function<std::unique_ptr<store>(store_context)>;

} // namespace holdfast
