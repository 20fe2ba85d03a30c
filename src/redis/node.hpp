// SPDX-License-Identifier: Apache-2.0
// The private seam below src/store/redis: "send this script with this key, hear this name". A
// model of the server can stand here in tests, and a router that chooses a node later.
#pragma once

#include "redis/script.hpp"
#include "redis/survey/report.hpp"
#include "redis/wire/reply.hpp"

#include <holdfast/redis/options.hpp>
#include <holdfast/store.hpp>
#include <holdfast/time.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace holdfast::redis {

/// One server of several, by a number that may be another's later.
using shard = std::uint16_t;

/// In which form releases are told and heard: to all nodes of a cluster, to one shard, or in both.
enum class telling : std::uint8_t { plain, sharded, both };

/// The commands that tell; the second one is empty unless both forms are told.
struct publishing {
    std::string_view command = "PUBLISH";
    std::string_view other{};
};

constexpr publishing publishing_in(telling form) {
    if (form == telling::plain)
        return {};
    return form == telling::sharded ? publishing{"SPUBLISH"} : publishing{"PUBLISH", "SPUBLISH"};
}

/// A moment on this client's clock, written to the server as microseconds of the server's own
/// clock: of the one at the other end of the connection by which the request goes out, as known
/// when it is composed (0: it is not).
struct server_deadline {
    time_point at;
};

/// One argument of a script. The text must live until the call has completed.
using argument = std::variant<std::string_view, std::int64_t, server_deadline>;

/// The arguments of a script that tells: the last one is `way.other`, and goes along if there is
/// one.
template <std::size_t Count>
std::span<const argument> telling_by(const publishing& way, const argument (&all)[Count]) {
    return std::span<const argument>{all}.first(way.other.empty() ? Count - 1 : Count);
}

struct channel_name {
    explicit channel_name(std::string s)
        : text{std::move(s)} {}
    std::string text;
};

/// How long a caller waits for a subscription to be confirmed before it polls without.
inline constexpr duration confirmation_patience = std::chrono::seconds{1};

/// What becomes of a subscription when nobody listens any more: it is kept a while for the next
/// one, or ended at once, because the channel is nobody else's or others count who listens.
enum class linger { usual, none };

/// One listener of one channel. Destroying it stops the ringing.
class hearing {
public:
    virtual ~hearing() = default;

    /// Returns once the server has confirmed the subscription (at once if it had), at `limit`, or
    /// when it is clear that nothing will come of it soon: it was refused, or no connection could
    /// be made. Then the listener hears whatever comes, and the caller polls; a later confirmation
    /// rings. Whether it is confirmed.
    virtual asio::awaitable<bool> confirmed(time_point limit) = 0;
};

/// Beside the answer.
struct call_wishes {
    /// An answer that comes later is of no use: outcome_unknown then (or unreachable, if it was not
    /// sent). Never later than `command_timeout()` from the call, whatever stands here.
    time_point answer_by = time_point::max();
    /// Not over the connection that an earlier request of the same kind was not answered on.
    bool elsewhere = false;
    /// Room is kept for it beyond `requests_max`. For releases and renewals alone, of which there
    /// is one for each hold at most: so this is bounded too.
    bool reserved = false;
    /// So many replicas are to confirm what it writes, within that time (1 ms and more; and never
    /// longer than `replica_timeout`), before the answer is given. It says how many did.
    std::uint8_t replicas = 0;
    duration replicas_within{};
    /// If its keys are at several servers, since they are on their way, that is told at once: it
    /// can be asked for by parts.
    bool divisible = false;
    /// Its keys are on their way to this server, and it has them only for who asks so.
    bool asking = false;
};

class node {
public:
    virtual ~node() = default;

    /// Runs `what` on the server: EVALSHA, and EVAL if the server does not know it (NOSCRIPT).
    /// Throws system_error: `errc::unreachable` if it was never sent, `errc::outcome_unknown` if
    /// the answer did not come within `command_timeout()` from the call or the connection was lost
    /// behind it, a `store_errc` with the server's words if the server answered with an error,
    /// `errc::overloaded` if `requests_max` is reached, `errc::closed` after close().
    /// Never answers with an error reply.
    virtual asio::awaitable<reply> call(const script& what, std::span<const std::string_view> keys,
                                        std::span<const argument> arguments, call_wishes = {}) = 0;

    /// The same at one server of several, for scripts without keys.
    virtual asio::awaitable<reply> call_at(shard, const script& what,
                                           std::span<const argument> arguments,
                                           call_wishes wishes = {}) {
        return call(what, {}, arguments, wishes);
    }

    /// Whether there are several, so that what follows differs from key to key.
    virtual bool is_sharded() const noexcept { return false; }

    /// The servers that have something of what is asked for here; `anew`: as others say after this
    /// was called. Throws `failure` (unreachable) if nobody says it.
    virtual asio::awaitable<std::vector<shard>> shards([[maybe_unused]] bool anew = false) {
        co_return std::vector<shard>{0};
    }

    /// The one that has a key, as far as is known: whoever guesses wrong is told.
    virtual shard shard_of(std::string_view) const { return 0; }

    /// Keys may travel in one request only if this is the same for all of them.
    virtual std::uint16_t slot_of(std::string_view) const { return 0; }

    /// That answer is none that the script gives: so each later one of its connection may belong to
    /// the question before. Ends the connection; what was open on it ends as outcome_unknown, and
    /// the observer is told. A connection that is over already is no matter.
    virtual void distrust(const reply&) noexcept = 0;

    /// Rings `wake` for each message on the channel, and once when a subscription was confirmed
    /// again after the connection was lost. Messages are hints: their content is not looked at.
    virtual std::unique_ptr<hearing> hear(channel_name, alarm& wake, linger = linger::usual) = 0;

    /// Whether the server counts us among those who hear that channel.
    virtual bool hears(const channel_name&) const = 0;

    /// By which commands a script tells of a release.
    virtual publishing telling_commands() const noexcept { return {}; }

    virtual duration command_timeout() const noexcept = 0;

    /// How long it usually takes until locks can be asked for again, when a server has died.
    virtual duration usual_outage() const noexcept { return limits{}.usual_outage; }

    /// How long a JVM's place in the queue of a fair lock lasts: its `fairLockWaitTimeout`.
    virtual duration fair_wait() const noexcept { return std::chrono::minutes{5}; }

    /// In whose form permits are written.
    virtual redisson_form redisson() const noexcept { return redisson_form::v3_17; }

    /// What all servers behind this say when they are examined. Throws `failure` (closed).
    virtual asio::awaitable<topology_report> survey() { co_return topology_report{}; }

    /// Which server has that key, and the last connection for requests led to, as far as it told:
    /// its run_id, empty if that was denied. It forgets what was before its start, and before the
    /// moment at which this client was last without a connection: a restart may be hidden behind
    /// that.
    virtual server_identity identity(std::string_view) const { return {}; }

    virtual void close() noexcept = 0;
};

} // namespace holdfast::redis
