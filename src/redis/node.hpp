// SPDX-License-Identifier: Apache-2.0
// Interface between src/store/redis and the connections. It runs a script with keys, and subscribes
// to a channel. It has three implementations: a client of one server, a client of a cluster, and a
// model of the server in tests.
//
//   primary_node   one `server_connections` (all connections to one server) at its `destination`:
//                  a fixed address, or the primary that Sentinels name (topology/primary_node.hpp)
//   cluster_node   one `server_connections` for each server, a map of the slots, and
//                  subscriptions that follow their slots (topology/cluster_node.hpp)
//
// A call goes to the server of its first key's slot. It may be redirected, or retried after a
// pause, but it always ends within one `command_timeout` (`retry_loop`). When another server takes
// over, the user's observer gets the event `moved`, and `store_context::revalidate` makes this
// client check at once the holds that the old server had.
#pragma once

#include "redis/client/resp.hpp"
#include "redis/topology/report.hpp"

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

/// Number of a server in a cluster. When the server is no longer used, another server may get its
/// number.
using shard = std::uint16_t;

/// How release notifications are published. Plain messages go to all nodes of a cluster. Sharded
/// messages go to one shard. The third way is to publish both. Clients subscribe in the same form.
enum class telling : std::uint8_t { plain, sharded, both };

/// Commands that publish a notification. `other` is the second command, which is needed if both
/// forms are published. If only one form is published, `other` is empty.
struct publishing {
    std::string_view command = "PUBLISH";
    std::string_view other{};
};

constexpr publishing publishing_in(telling form) {
    if (form == telling::plain)
        return {};
    return form == telling::sharded ? publishing{"SPUBLISH"} : publishing{"PUBLISH", "SPUBLISH"};
}

/// Deadline by this client's clock. When the request is composed, the deadline is converted to
/// microseconds of the server's clock, with the connection's estimate of that clock. If there is no
/// estimate, the request contains 0 instead.
struct server_deadline {
    time_point at;
    /// Deadline of the call. If the last attempt to connect failed, a request that still waits for
    /// a connection at this time fails. Otherwise this deadline has no effect. A deadline in the
    /// past never has an effect.
    time_point of_call = time_point::max();
};

/// One argument of a script. The text must live until the call has completed.
using argument = std::variant<std::string_view, std::int64_t, server_deadline>;

/// Returns the arguments of a script that publishes a notification. The last argument is
/// `way.other`, which the function omits if it is empty.
template <std::size_t Count>
std::span<const argument> telling_by(const publishing& way, const argument (&all)[Count]) {
    return std::span<const argument>{all}.first(way.other.empty() ? Count - 1 : Count);
}

struct channel_name {
    explicit channel_name(std::string s)
        : text{std::move(s)} {}
    std::string text;
};

/// Longest wait for the confirmation of a subscription. After this time, the caller polls.
inline constexpr duration confirmation_timeout = std::chrono::seconds{1};

/// How long a subscription is kept after its last listener has left. `usual`: for a while, so that
/// a new listener can use it. `none`: not at all, because only one client uses the channel, or
/// because other clients read the number of its subscribers.
enum class linger { usual, none };

/// Subscription of one listener to one channel. The destructor ends the subscription. After that,
/// the listener's alarm does not ring.
class hearing {
public:
    virtual ~hearing() = default;

    /// Waits until the server has confirmed the subscription, and returns true. Returns false if
    /// there is no confirmation before `limit`, if the server refused the subscription, or if no
    /// connection could be made. The caller must then poll. A later confirmation or message rings
    /// the alarm that was given to `hear()`.
    virtual asio::awaitable<bool> confirmed(time_point limit) = 0;

    /// Returns the text of the last message, or an empty text if there was none. A message may be
    /// lost, old, or from a former primary, so the caller must check its text.
    virtual std::string_view last_message() const { return {}; }
};

/// Options of one call.
struct call_options {
    /// Deadline of the reply. If there is no reply by then, the call fails: with unreachable if the
    /// request was not sent, and otherwise with outcome_unknown. A call never takes longer than
    /// `command_timeout()`, even if this deadline is later.
    time_point answer_by = time_point::max();
    /// True if an earlier request of this kind got no reply, so that this request must use another
    /// connection.
    bool elsewhere = false;
    /// True: accept the request even if `requests_max` requests are pending. Only releases and
    /// renewals may set this. The number of such requests is limited, because each hold has at most
    /// one release or renewal under way.
    bool reserved = false;
    /// Number of replicas that should confirm the writes before the reply is returned. The reply
    /// says how many replicas have confirmed. `replicas_within` is the longest wait for the
    /// replicas: at least 1 ms, and never more than `replica_timeout`.
    std::uint8_t replicas = 0;
    duration replicas_within{};
    /// True if the caller can send a separate request for each key instead. If a slot migration has
    /// separated the keys, the call then fails at once, without retries.
    bool divisible = false;
    /// True: send ASKING before the request. A server that is importing a slot serves the keys of
    /// this slot only after ASKING.
    bool asking = false;
};

/// Client of one Redis deployment: one server, a Sentinel service, or a cluster.
class node {
public:
    virtual ~node() = default;

    /// Runs `what` on the server with EVALSHA, or with EVAL if the server does not know the script
    /// (NOSCRIPT). Fails with a system_error, which has one of these codes:
    /// - `errc::unreachable` if the request was never sent.
    /// - `errc::outcome_unknown` if the request was sent, but the connection was lost or no reply
    ///   came within `command_timeout()` of the call.
    /// - A `store_errc` with the server's words if the server replied with an error.
    /// - `errc::overloaded` if `requests_max` is reached.
    /// - `errc::closed` after close().
    virtual asio::awaitable<reply> call(const script& what, std::span<const std::string_view> keys,
                                        std::span<const argument> arguments, call_options = {}) = 0;

    /// Runs a script without keys on the given server; see call().
    virtual asio::awaitable<reply> call_at(shard, const script& what,
                                           std::span<const argument> arguments,
                                           call_options options = {}) {
        return call(what, {}, arguments, options);
    }

    /// Returns whether the keys are divided among several servers. If so, the results of the next
    /// functions depend on the key of a lock.
    virtual bool is_sharded() const noexcept { return false; }

    /// Returns the servers that own slots. If `anew` is true, requests a new slot map and waits for
    /// it. Throws `failure` (unreachable) if no server returns a map.
    virtual asio::awaitable<std::vector<shard>> shards([[maybe_unused]] bool anew = false) {
        co_return std::vector<shard>{0};
    }

    /// Returns the server that owns the slot of a key, according to the known slot map. If the map
    /// is out of date, the server will redirect the request.
    virtual shard shard_of(std::string_view) const { return 0; }

    /// Returns the slot of a key. All keys of one request must be in the same slot.
    virtual std::uint16_t slot_of(std::string_view) const { return 0; }

    /// Ends the connection over which this reply came, and reports an event to the user's observer.
    /// Call this function if the request's script can never give such a reply: each later reply on
    /// the connection may then belong to an earlier request. Running requests on the connection
    /// fail with outcome_unknown. Does nothing if the connection has ended already.
    virtual void distrust(const reply&) noexcept = 0;

    /// Subscribes to a channel. Rings `wake` for each message, and when the subscription is
    /// confirmed again after a reconnection. A message is only a hint: it may be missing or late.
    virtual std::unique_ptr<hearing> hear(channel_name, alarm& wake, linger = linger::usual) = 0;

    /// Returns whether the server has confirmed this client's subscription to the channel.
    virtual bool hears(const channel_name&) const = 0;

    /// Returns the commands with which a script publishes a release.
    virtual publishing telling_commands() const noexcept { return {}; }

    virtual duration command_timeout() const noexcept = 0;

    /// Returns how long locks are usually unavailable after a server has failed.
    virtual duration usual_outage() const noexcept { return limits{}.usual_outage; }

    /// Returns the `fairLockWaitTimeout` of Redisson. This is how long a Redisson client that sends
    /// no request stays in the queue of a fair lock.
    virtual duration fair_wait() const noexcept { return std::chrono::minutes{5}; }

    /// Returns whether a release grants the lock to the next waiting client
    /// (`options::direct_hand_off`).
    virtual bool direct_hand_off() const noexcept { return false; }

    /// Returns whether a channel may have subscribers that a script does not count, because they
    /// are at another server. In a cluster, a client may subscribe at any node to a channel that is
    /// not sharded.
    virtual bool has_unseen_listeners() const noexcept { return false; }

    /// Returns the Redisson version whose format permits have.
    virtual redisson_form redisson() const noexcept { return redisson_form::v3_17; }

    /// Asks all servers about their state, and returns a report. Throws `failure` (closed).
    virtual asio::awaitable<topology_report> survey() { co_return topology_report{}; }

    /// Returns the identity of the server that has the key. The id is the run_id that the server
    /// reported to the last command connection; it may be empty. `forgets_before` is the time when
    /// the server started. If the command connection was lost later, `forgets_before` is the time
    /// of the loss, because the server may have restarted unnoticed. A loss does not count if the
    /// server is known to be the same process as before.
    virtual server_identity identity(std::string_view) const { return {}; }

    virtual void close() noexcept = 0;
};

/// Returns a client of the deployment that the options name: one server, a Sentinel service or a
/// cluster. The options must have been checked. The client connects at its first request.
std::unique_ptr<node> make_node(options, store_context);

} // namespace holdfast::redis
