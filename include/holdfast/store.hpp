// SPDX-License-Identifier: Apache-2.0
// Interface of a store for locks. A store is the server (or library) that keeps the locks. Memory,
// Redis, MySQL and ZooKeeper implement the same interface. Counters have their own interface in
// counters.hpp.
//
// line_up ──▶ look ──granted──▶ a hold ── renew, renew … ──▶ release
//                │ ▲                 │ doubt: renew at once, its reply decides
//           busy │ │ wake rings      ▼
//                ▼ │               lost (renewal refused, or validity ended)
//                wait ── deadline, cancellation, error ──▶ leave
//
// A `place` is a waiter. line_up() creates a waiter, look() tries to acquire the lock, and leave()
// removes the waiter. `wake` is the waiter's alarm. `revalidate` means that the store may have lost
// the hold.
//
// Users need this header only to write a store of their own. All functions are called on the
// client's executor, one at a time, except `bounds()` and `objection_to()`. These two functions may
// be called on any thread.
#pragma once

#include <holdfast/diagnosis.hpp>
#include <holdfast/inspection.hpp>
#include <holdfast/observer.hpp>
#include <holdfast/time.hpp>
#include <holdfast/wish.hpp>

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

// The types below have constructors, although aggregates would be shorter. The reason is a bug of
// g++ 12: it frees an aggregate temporary twice when the temporary is passed to a function in a
// co_await expression.

/// Name of a lock. This is either the name that users write, or the name at the store, after the
/// client's name mapping. The name may contain any bytes. If the store does not allow the name, the
/// client refuses the name before it sends a request.
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

/// Owner of one hold: 128 bits that identify the client, and a number that the client uses for this
/// hold only.
struct owner_id {
    std::array<std::uint8_t, 16> client{};
    std::uint64_t number = 0;
    bool operator==(const owner_id&) const = default;
};

/// Returns the text of the owner, `<uuid>:<number>`. Stores use this text, and Redisson can read
/// it.
HOLDFAST_EXPORT std::string to_string(const owner_id&);

/// Returns the permit id for the given owner: 32 hexadecimal digits, the format that Redisson
/// returns to users. The first ten bytes come from the client's id, and the last six bytes come
/// from the owner's number.
HOLDFAST_EXPORT std::string permit_id(const owner_id&);

/// Kinds of locks. `plain`, `spin` and `fenced` use the same key, so they exclude each other. A
/// `token` lock may also be held by a program that uses neither holdfast nor Redisson. Such a
/// program sends no notification when it releases the lock.
enum class lock_kind : std::uint8_t { plain, spin, fenced, fair, read, write, token, permit };

/// Returns the name of the kind for messages. The name is "a mutex" for `plain`, `spin`, `fenced`
/// and `fair`, which exclude each other under one name. The other names are "a read-write lock", "a
/// token lock" and "a leased semaphore".
HOLDFAST_EXPORT const char* words_for(lock_kind) noexcept;

/// Throws `store_errc::wrong_type`. The message says that the name has a value of type `there`
/// instead of `wanted`.
[[noreturn]] HOLDFAST_EXPORT void throw_wrong_type(std::string_view there, std::string_view wanted);

/// Lock, owner and settings of a hold that exists or is requested.
struct hold {
    hold(lock_name n, owner_id o, lock_kind k)
        : name{std::move(n)}
        , owner{o}
        , kind{k} {}
    lock_name name;
    owner_id owner;
    lock_kind kind;
    /// For kind `permit`: number of permits of this hold. The first permit has the owner's number,
    /// and each further permit has the next number. The hold is lost if one of its permits is lost.
    std::uint32_t permits = 1;
    /// Number of replicas that must confirm a grant or a renewal before the client relies on it. If
    /// fewer replicas confirm it in time, the call fails with `store_errc::not_replicated`,
    /// although the hold may exist at the store.
    std::uint8_t replicas = 0;
};

/// How the token of a fenced lock changes. `counted`: it grows by one. `dated`: it becomes the
/// server's time in µs, but at least the last token plus one. `dated` tokens grow even if the
/// server lost all its data, unless the server's clock is behind.
enum class fencing : std::uint8_t { counted, dated };

/// List of pointers to holds. A request about many holds uses this list, so that no hold is copied.
using hold_list = std::span<const hold* const>;

/// Request to acquire a lock.
struct ask : hold {
    using hold::hold;
    /// Requested lease time. A store with sessions grants the remaining session time instead.
    duration lease_time{};
    /// Deadline of the request. After the deadline, the store must not grant a repeated attempt
    /// (look()), not even if the server was stalled. The first attempt ignores the deadline,
    /// because try_lock() has a timeout of zero. The first attempt may last for the store's whole
    /// time limit.
    time_point give_up_at{};
    bool waits = true; ///< false: one attempt only, without a place in a queue of the store
    /// For a fair lock: how long a waiter stays in the queue after its last attempt.
    duration outlasts{};
    /// For a fenced lock: number of tokens to reserve. `answer::token` is the first reserved token.
    std::uint32_t tokens = 1;
    fencing numbers = fencing::counted;
    /// Whether the caller renews the hold. If so, the store may begin with a lease that is shorter
    /// than `lease_time`, because a renewal soon extends it to `lease_time`. `answer::term` is the
    /// length of this first lease, and `answer::counts_from` is the moment at which it began.
    bool renewed = false;
    /// For a read-write lock of which the caller already holds the other side (read or write):
    /// owner number of that hold. The caller keeps that hold. For example, a downgrade acquires the
    /// read side under the caller's write hold. 0 if there is no such hold.
    std::uint64_t under = 0;
    /// For kind `write`: while this writer waits, new readers must wait, too. They still wait for
    /// this time after the last reader has left, so that the writer gets the lock first. The store
    /// sets this value; callers leave it at 0.
    duration head_start{};
};

/// Reply of the store to an attempt (look()) or a renewal.
struct answer {
    /// True if the lock was granted. For a renewal: true if the owner still holds the lock.
    bool granted = false;
    /// If the lock was granted: how long the lease is valid, counted from the start of the call. If
    /// the lock is busy: how long to wait, at most, before the next attempt.
    duration term{};
    /// Fencing token of the grant; 0 if the store or the kind has no tokens. The holder gets the
    /// token only for the kind `fenced`. For other kinds, operators can read the token in
    /// `lock_state::token`.
    std::uint64_t token = 0;
    /// Number of reserved fencing tokens, beginning with `token`. Each local hand-over uses one of
    /// these tokens.
    std::uint32_t tokens = 0;
    /// If the lock was granted: the moment at which the lease began. The lease lasts for `term`
    /// from this moment. If empty, the lease began when the caller sent its request. A store sets
    /// this field only if `ask::renewed` was true in the request.
    std::optional<time_point> counts_from{};
    /// Lease time that was left at the store just before this request. For a renewal, this is the
    /// remaining time of the renewed hold. For a grant, this is the remaining time of the other
    /// owners that share the lock. Empty if the time is unknown, or if no other client can change
    /// this time.
    std::optional<duration> left_before{};
    /// True if the store's reply says whether the lock is free. False if no request was sent, or if
    /// the reply came too late. If an earlier attempt of the call failed, the caller must then
    /// report that failure.
    bool answered = true;
};

/// Result of a release.
struct release_answer {
    bool was_ours = false; ///< true if this owner held the lock until now
    /// True if other clients wait for the lock, or waited until recently.
    bool others_listen = false;
    explicit operator bool() const noexcept { return was_ours; }
};

/// Waiter of one owner for one lock. If the store keeps a queue for the lock, the waiter is an
/// entry of that queue.
class place {
public:
    virtual ~place() = default; ///< stops notifications and sends nothing: call leave() first

    /// Tries once to acquire the lock. If the lock is busy, the alarm `wake` rings as soon as
    /// another attempt may succeed. If the store keeps a queue, the first attempt adds the waiter
    /// to the queue. If the second attempt finds the lock busy, it subscribes to notifications, and
    /// then tries again before it returns.
    ///
    /// Idempotent: after a lost reply, call look() again. Each granted attempt writes to the store,
    /// also a repeated attempt. So replicas confirm this grant even if the first attempt's reply
    /// was lost.
    virtual asio::awaitable<answer> look() = 0;

    /// Removes the waiter, and also the hold if the lock was granted to the waiter. Afterwards the
    /// store has neither a waiter nor a hold of this owner, unless an attempt is still on its way
    /// to the store (see settled_at).
    virtual asio::awaitable<void> leave() = 0;

    /// Returns whether the store may still have data of this owner: a hold, an entry in a queue, or
    /// a mark that the owner waits. If so, call leave() before you destroy the waiter. A repeated
    /// call of leave() does no harm.
    virtual bool must_leave() const noexcept = 0;

    /// Returns whether an attempt was sent whose outcome is unknown. The owner may then hold the
    /// lock without knowing it.
    virtual bool uncertain() const noexcept = 0;

    /// Returns the time after which the store no longer executes an attempt of this waiter. If
    /// leave() was called while an outcome was unknown, release the lock once more after this time.
    /// The time is in the past if the store never executes a request of an old connection after a
    /// new connection was made.
    virtual time_point settled_at() const noexcept = 0;
};

/// Options for one renewal request with many holds.
struct renewal_options {
    /// Requested lease time. With zero, the request extends no hold: it only asks whether the locks
    /// are still held, and no replica has to confirm it.
    duration lease_time{};
    /// Time after which the caller does not use replies any more. A request that was sent and has
    /// no reply at this time fails with `outcome_unknown`.
    time_point answer_by = time_point::max();
    /// True if an earlier request for the same holds got no reply. The store then sends this
    /// request over another connection, if it has one.
    bool elsewhere = false;
};

/// Receiver of the outcome of a renewal request. The store calls one of the functions on the
/// executor, exactly once for each hold, as soon as the outcome is known. `which` is the index of
/// the hold in the list.
class renewal_sink {
public:
    /// Called when the store has replied whether the lock is still held. If the lock is held, the
    /// validity of the hold counts from the moment just before the request was sent.
    virtual void renewed(std::size_t which, const answer&) = 0;
    /// Called when the request failed. See `lock_store` for what the caller knows after each error.
    virtual void failed(std::size_t which, const boost::system::system_error&) = 0;

protected:
    ~renewal_sink() = default;
};

/// Receiver of the outcome of the renewal of a single hold.
class single_renewal final : public renewal_sink {
public:
    void renewed(std::size_t, const answer& got) override { said_ = got; }
    void failed(std::size_t, const boost::system::system_error& why) override { why_ = why; }

    /// Returns the reply to the renewal, or throws its error.
    const answer& said() const {
        if (why_)
            throw boost::system::system_error{*why_};
        return said_.value();
    }

private:
    std::optional<answer> said_;
    std::optional<boost::system::system_error> why_;
};

/// Callback for a hold that the store may have lost. The store calls this callback on the executor.
/// The client then sends a request at once to find out whether the hold still exists.
class revalidator {
public:
    virtual void revalidate() noexcept = 0;

protected:
    ~revalidator() = default;
};

/// Subscription to events of the store. An event calls a `revalidator`, or rings an alarm. The
/// subscription ends when this object is destroyed.
class watch {
public:
    virtual ~watch() = default;
};

/// Limits and properties of a store. Before the client sends a request, the client checks that the
/// request is within these limits.
struct limits {
    duration lease_min{1};
    duration lease_max = std::chrono::hours{24 * 3652}; // ten years
    std::size_t name_bytes_max = 64 * 1024;
    /// Every call of a lock_store ends within this time.
    duration time_limit = std::chrono::seconds{3};
    /// True if a hold at the store lasts as long as the client's session there (ZooKeeper). The
    /// validity in a reply is then the remaining session time, whatever lease was requested. Every
    /// renewal request extends the session, even if it requests no lease time. The client
    /// (`engine`) ends each lease by its own clock, and then releases the lock. If a release or a
    /// call of leave() was not acknowledged, the store itself repeats it as long as the session
    /// exists.
    bool by_session = false;
    /// Maximum of `hold::replicas`. Zero if the store does not support confirmation by replicas.
    std::uint8_t replicas_max = 0;
    /// Maximum time between two requests about the same read hold. This maximum also applies to a
    /// read hold with a fixed lease. Other programs may shorten a read hold at any time, and the
    /// request restores its remaining time. `duration::max()` means that no other program shortens
    /// read holds.
    duration read_request_max = duration::max();
    /// Usual length of an outage: the default of `options::unavailable_timeout`. The outage is
    /// longer for stores in which another server takes over when a server dies.
    duration usual_outage = std::chrono::seconds{10};
};

/// Interface of a store for locks. Every call ends within the store's own time limit. A call
/// returns a result or throws `boost::system::system_error`. After `errc::unreachable`,
/// `errc::refused` and `errc::overloaded`, the store has changed nothing. After any other error,
/// the outcome is unknown. A ringing alarm is only a hint to ask again: the store's replies and the
/// clock decide.
class lock_store {
public:
    virtual ~lock_store() = default;

    virtual bool offers(lock_kind) const noexcept = 0;
    virtual limits bounds() const noexcept = 0;

    /// Returns why this store does not allow a lock with the given name. Returns nothing if the
    /// store allows the name. Sends no request.
    virtual std::optional<std::string> objection_to(const lock_name& name) const = 0;

    /// Creates a waiter; sends nothing yet. `wake` must outlive the waiter.
    virtual std::unique_ptr<place> line_up(ask, alarm& wake) = 0;

    /// Renews holds. Reports the outcome of each hold to the sink, in batches that the store
    /// chooses; a failure is also an outcome. Throws nothing. A renewal never restores a hold that
    /// the store has lost, and never shortens a hold. An error of one name or one batch does not
    /// affect the other holds. All holds of a list require the same number of replicas. The list,
    /// its holds, the options and the sink must live until the call has completed.
    virtual asio::awaitable<void> renew(hold_list, const renewal_options&, renewal_sink&) = 0;

    /// Releases a hold. A repeated release does no harm.
    virtual asio::awaitable<release_answer> release(hold) = 0;

    /// Returns whether transfer() supports this kind.
    virtual bool transfers(lock_kind) const noexcept { return false; }

    /// Gives a hold to a new owner in one step: if `what.owner` holds the lock, `to` holds it
    /// afterwards, and the lease lasts `lease_time` from now. If `to` holds the lock already, the
    /// reply is also `granted`, and the lease is never shortened. So the request can be repeated
    /// after an unknown outcome. If the reply is not `granted`, neither of the two owners holds the
    /// lock. A request that is executed after the store's time limit changes nothing.
    virtual asio::awaitable<answer> transfer(hold what, owner_id to, duration lease_time) {
        (void)what, (void)to, (void)lease_time;
        co_return answer{};
    }

    /// Tells the store that this client will not renew or release a hold any more, although the
    /// server still has the hold (`lease::detach()`). The store deletes everything that it keeps
    /// for the hold in this process.
    virtual void detached(const hold&) noexcept {}

    /// Watches a hold. While the returned object exists, the store calls `whom` when the hold may
    /// be lost. Returns null if the store cannot notice a loss.
    virtual std::unique_ptr<watch> watch_over(const hold&, revalidator& whom) = 0;
};

/// Holders of a lock, as the store reports them.
struct holding {
    /// Owners in the store's own format, including Redisson's owners.
    std::vector<std::string> owners{};
    std::optional<duration> remaining{}; ///< remaining lease; empty if the lease never expires
    bool alone = true; ///< true if one owner excludes all others; false if the lock is only shared
    /// True if some owners share the lock (readers), even if a writer holds the lock, too.
    bool shared = false;
    bool tells = true; ///< false: the holder will certainly send no notification when it releases
    key_kind kind = key_kind::lock;
    /// False if the nodes of the lock do not show whether the lock is a mutex or a read-write lock.
    /// The reason is that kazoo gives the nodes of both kinds the same names. In that case, `kind`
    /// is `lock`.
    bool kind_is_certain = true;
    /// For kind `other`: type of the value, for messages. The value is not a lock, so nobody holds
    /// it.
    std::string other{};
};

/// Result of `inspector::force_release`.
struct forced {
    bool was_locked = false; ///< true if `owners` held the lock; it is free now
    /// Owners of the lock: the removed owners, or the present owners if `was_locked` is false and
    /// the lock was not removed. If very many owners share the lock, the list may have only some of
    /// them.
    std::vector<std::string> owners{};
};

/// Functions for operators. They report whether a lock is held, by whom and for how long, and they
/// can remove a lock.
class inspector {
public:
    virtual ~inspector() = default;
    /// Returns the holders of the lock. The result is empty if the lock is free.
    virtual asio::awaitable<std::optional<holding>> inspect(lock_name) = 0;

    /// Removes the lock from `only_from`, or from any holder if `only_from` is empty. `only_from`
    /// is in the store's own format; a shared lock is removed from all owners if `only_from` is one
    /// of them. Notifies all waiters for locks of that name, whatever the kind of their lock is.
    ///
    /// A request that is executed after the store's time limit removes nothing. If the call is
    /// repeated after an unknown outcome without `only_from`, it may end the hold of another owner.
    /// Throws `store_errc::wrong_type` if the name has a value that is not a lock.
    virtual asio::awaitable<forced> force_release(lock_name, std::string only_from) = 0;

    /// Removes a lock of the given kind from any holder. Throws `store_errc::wrong_type` if a lock
    /// of another kind has this name (`words_for` tells which kinds share names). `read` removes a
    /// lock only if the lock is shared and has no exclusive owner. `write` removes a lock only if
    /// the lock has an exclusive owner.
    virtual asio::awaitable<forced> force_kind(lock_name, lock_kind) = 0;

    /// Returns the greatest fencing token that was granted or reserved for the fenced lock with
    /// this name. Returns zero if the lock never had a token, or if the store has no tokens. If the
    /// store has deleted the token, the function returns a number between that token and the next
    /// one.
    virtual asio::awaitable<std::uint64_t> last_token(lock_name) { co_return 0; }

    /// Returns what the store has about the lock with this name. The result is empty if the lock is
    /// free and no waiter is queued for it.
    virtual asio::awaitable<std::optional<lock_state>> describe(lock_name) = 0;

    /// Completes the states of these locks by the holds and waits that clients have reported. If
    /// the reports cannot be read, the states stay as they are.
    virtual asio::awaitable<void> add_reports(std::span<lock_state>) { co_return; }

    /// Lists the held locks whose names match a glob pattern: at most `limit`, in the order of
    /// their names. The rules of `client::list()` apply, but a negated class always begins with
    /// `[^`. The number of requests to the store is bounded.
    virtual asio::awaitable<lock_list> list(std::string pattern, std::size_t limit) = 0;

    /// Returns whether clients report their holds and waits to this store.
    virtual bool lists_active() const noexcept { return false; }

    /// Which locks list_active() lists: at most `limit`, in the order `by`. Their names begin with
    /// `prefix` and contain `text` after it.
    struct active_query {
        std::string prefix{};
        std::size_t limit = 100;
        active_order by = active_order::wait;
        std::string text{};
    };

    /// Implements `client::list_active()` from the holds and waits that clients report.
    virtual asio::awaitable<lock_list> list_active(active_query) { co_return lock_list{}; }

    /// Watches a lock. While the returned object exists, the alarm `wake` rings when the lock may
    /// have become free. Every release rings the alarm, except a release that is announced to one
    /// waiter only, or to nobody (fair and spin locks). Returns null if the store cannot report
    /// releases now.
    virtual asio::awaitable<std::unique_ptr<watch>> listen(lock_name, alarm& wake) = 0;
};

/// Interface for wishes: requests to the holders of a lock to release it soon. Only the owners that
/// hold the lock when the wish arrives can read it; a later owner cannot. A wish is only a hint: it
/// may be lost with the server's last writes.
class wish_store {
public:
    virtual ~wish_store() = default;

    /// Stores a wish for the present owners of a lock, for the time `kept`, and notifies the
    /// holders that listen. Replaces an earlier wish for this lock. Returns the owners in the
    /// store's own format; if very many owners share the lock, only some of them. Returns nothing
    /// and stores nothing if the lock is free. Throws `store_errc::wrong_type` if the name has a
    /// value that is not a lock.
    virtual asio::awaitable<std::vector<std::string>> ask_holders(lock_name, wish,
                                                                  duration kept) = 0;

    /// Returns the wish that is stored for the owner of this hold. Returns nothing if no wish is
    /// stored.
    virtual asio::awaitable<std::optional<wish>> wish_for(hold) = 0;

    /// Subscribes to wishes for a lock, and waits a short time until the store has confirmed the
    /// subscription. While the returned object exists, the alarm `wake` rings when a wish for the
    /// lock may have been stored. A notification may be lost, so call wish_for() from time to time.
    /// `wake` must outlive the returned object.
    virtual asio::awaitable<std::unique_ptr<watch>> hear_wishes(hold, alarm& wake) = 0;
};

/// Identity of the server that stores a lock. If a client uses several server addresses, it
/// compares the identities, to find out whether two addresses belong to the same server.
struct server_identity {
    /// Text that identifies the server. The text is the same on every connection to the server, and
    /// different for every other server, of any type. Empty if the identity is unknown.
    std::string id{};
    /// Time since which the server has kept its data. The server may have forgotten all data from
    /// before this time. `time_point::min()` means that the server forgets nothing. Empty if the
    /// time is unknown; a quorum with this server then reports the event `impaired`.
    std::optional<time_point> forgets_before{};
};

class counter_store; // counters.hpp

/// Store of one client: the interfaces for locks, counters and inspection. close() makes the
/// running calls fail.
class store {
public:
    virtual ~store() = default;
    virtual lock_store& locks() noexcept = 0;
    /// Returns the interface for counters. Returns null if the store has no counters.
    virtual counter_store* counters() noexcept { return nullptr; }
    virtual inspector& operators_view() noexcept = 0;
    /// Returns the interface for wishes (see wish.hpp). Returns null if this store cannot keep
    /// wishes.
    virtual wish_store* wishes() noexcept { return nullptr; }
    virtual void close() noexcept = 0;

    /// Returns the identity of the server that stores `name`, as the server reported it on the last
    /// connection. Sends no request.
    virtual server_identity identity(const lock_name&) const { return {}; }

    /// Deletes the description of this client at the server (`options::announce`). Completes after
    /// a short time, even if the server does not reply.
    virtual asio::awaitable<void> depart() { co_return; }

    /// Implements `client::doctor`. Problems are returned as findings, not thrown.
    virtual asio::awaitable<std::vector<finding>> examine(ask trial) = 0;

    /// Implements `client::set_up`: creates everything that must exist before the first lock.
    /// Reports what it created and what existed already. A repeated call changes nothing. The
    /// result is empty if this store needs no set-up. Throws the errors of `lock_store`.
    virtual asio::awaitable<std::vector<finding>> set_up() { co_return std::vector<finding>{}; }
};

/// A hold of a client, in the list that the client reports to its store.
struct reported_hold {
    std::string name; ///< name at the store
    lock_kind kind;
    std::uint64_t number; ///< number of the owner
    time_point since;     ///< when this owner acquired the lock
    bool renewed;         ///< false: the lease is fixed
};

/// A waiting call of a client, in the list that the client reports to its store.
struct reported_wait {
    std::string name; ///< name at the store
    lock_kind kind;
    time_point since;      ///< when the call began
    time_point give_up_at; ///< timeout of the call; `time_point::max()`: it has none
};

/// Limits of the lists in `client_activity`.
struct activity_limits {
    std::size_t entries = 0;   ///< maximum number of holds, and of waits
    std::size_t name_size = 0; ///< maximum size of a lock's name; longer names are left out
};

/// Holds and waits of a client, without permits and counters. Each list has the oldest entries,
/// with the oldest first.
struct client_activity {
    std::vector<reported_hold> holds{};
    std::vector<reported_wait> waits{};
    std::size_t holds_total = 0; ///< number of all holds that are old enough for the list
    std::size_t waits_total = 0; ///< number of all waits that are old enough for the list
    bool idle = true;            ///< true: the client has no hold and no waiting call, of any age
};

/// Objects and settings that a client gives to its store. All references outlive the store.
struct store_context {
    asio::any_io_executor executor; ///< a strand, or an executor with one thread
    clock& time;
    std::function<std::uint64_t()> random; ///< random bits for jitter; seeded in a simulation
    std::array<std::uint8_t, 16> client{}; ///< identity of this client
    std::string label;     ///< label of this client, for servers that list their clients
    duration poll_bound{}; ///< longest sleep of a waiter that gets no notification
    /// Reports events such as `reconnected` to the observer. The store may call this function at
    /// any time.
    std::function<void(const event&)> tell;
    /// Lease time of holds that have no lease time of their own.
    duration lease_time = std::chrono::seconds{30};
    bool announce = true; ///< `options::announce`; used if the store supports it

    /// Function that the store calls on the executor after each reconnection, because the server
    /// may have forgotten holds. The client then asks the store whether the holds still exist.
    /// `which` selects the names of these holds; if `which` is empty, all holds are selected. The
    /// argument `urgent` is true if the client may now be connected to another server, or if the
    /// server may have restarted. The client then asks at once.
    std::function<void(const std::function<bool(const lock_name&)>& which, bool urgent)>
        revalidate{};

    /// Returns whether this client has any hold. While the client has a hold, the store tries to
    /// reconnect more often. Call the function on the executor.
    std::function<bool()> holds_any{};

    /// Returns the holds and waits of this client that began at `began_by` or earlier, at most
    /// `limit` of each. Call the function on the executor.
    std::function<client_activity(time_point began_by, activity_limits)> activity{};

    /// How long the store has to remember the outcome of a request that changes a counter.
    duration request_memory = std::chrono::seconds{60};

    /// Returns an object that delays the completion of the client's close(). A loop of the store
    /// keeps such an object while it may wait on an alarm, because the clock may be destroyed after
    /// the close. Call the function and destroy the object on the executor. If no function is set
    /// here, close() does not wait for the loop.
    std::function<std::shared_ptr<void>()> at_work{};

    /// Runs the given work on the executor. Other threads must use this function instead of
    /// `executor`, because the executor may be destroyed in the meantime. This function may be
    /// called after the store is destroyed. Returns false if the client has closed or its executor
    /// has ended; the work is then destroyed and never called.
    std::function<bool(asio::any_completion_handler<void()>)> post{};
};

using store_factory = std::function<std::unique_ptr<store>(store_context)>;

} // namespace holdfast
