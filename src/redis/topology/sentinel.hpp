// SPDX-License-Identifier: Apache-2.0
// Search for the primary through the Sentinels of a service: when to ask the Sentinels, how to log
// in to them, and which primary follows from their replies.
#pragma once

#include "net/endpoint.hpp"
#include "redis/client/connection.hpp"
#include "redis/node_context.hpp"
#include "redis/topology/inquiries.hpp"
#include "redis/topology/report.hpp"

#include <holdfast/redis/options.hpp>
#include <holdfast/time.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace holdfast::redis {

/// Returns the address of a Sentinel, with port 26379 if it has none.
inline server_address sentinel_at(server_address where) {
    constexpr std::uint16_t usual_port = 26379;
    if (where.port == 0)
        where.port = usual_port;
    return where;
}

/// Returns the login for a Sentinel: the user and password that the options set for Sentinels, or
/// otherwise the user and password for the servers. A Sentinel may refuse the servers' password and
/// still answer questions without a login.
inline login sentinel_login(const node_context& context) {
    const sentinel_options& own = *context.how.sentinel;
    if (own.own_login || !own.user.empty() || !own.password.empty())
        return credentials{own.user, own.password};
    return {net::credentials_now({context.how.user, context.how.password}, context.how.credentials),
            true};
}

/// Decides which server is the primary, from the replies of several Sentinels over time.
///
/// Each failover increases the epoch of the Sentinels' configuration. So the reply with the
/// greatest epoch decides. Replies with a smaller epoch than the known one are ignored, because
/// isolated Sentinels still name the old primary. If no reply has a greater epoch, the primary
/// changes only if more than half of all Sentinels name the same other server.
///
/// A server that no earlier reply has listed becomes the primary only if more than half of the
/// Sentinels name it. A single Sentinel may watch another service, which has got the address of one
/// of our replicas.
///
/// Some replies contradict the newest known state: they name a former primary, have a smaller
/// epoch, or describe a service that has none of our servers. There are two possible reasons. Their
/// Sentinels may watch another deployment, because service names are often the same and addresses
/// are used again. Or the Sentinels were set up anew with epoch 0. Such a reply is accepted when
/// more than half of the Sentinels give it twice, at least `agreed_after` apart.
///
/// At the start nothing is known, so the first reply is accepted, even from a single Sentinel. If
/// this Sentinel watches another service, the result is corrected as soon as more than half of the
/// Sentinels have given the same other reply.
class sentinel_choice {
public:
    static constexpr duration agreed_after = std::chrono::seconds{10};

    enum class verdict : std::uint8_t {
        nobody_answers,  ///< nothing changes; no Sentinel replied
        unknown_service, ///< nothing changes; no Sentinel that replied knows the service
        stays,
        moves, ///< `primary()` has changed, or is known now
    };

    /// Decides which server is the primary, from the replies to one round of questions. `asked` is
    /// the number of Sentinels that were asked.
    verdict decide(std::span<const sentinel_answer>, std::size_t asked, time_point now);

    /// Processes a switch of the primary that a Sentinel has announced. Returns whether `primary()`
    /// has changed; if not, the caller should ask all Sentinels. While no primary is known, changes
    /// nothing, because the Sentinel may watch another service.
    bool hear(const primary_switch&);

    const std::optional<server_address>& primary() const { return primary_; }

    /// Returns whether more than half of the Sentinels have named our primary.
    bool is_confirmed() const { return confirmed_; }

private:
    /// Result of the election among the replies that count.
    struct proposal {
        server_address where{};
        std::optional<std::uint64_t> epoch{}; // greatest epoch of all replies
        bool is_newer = false;                // true: `epoch` is greater than any before
        // True if `epoch` is smaller than the epoch of earlier replies.
        bool is_older = false;
        bool is_strange = false;               // true: these replies name none of our servers
        bool tells_replicas = false;           // true: some of these replies list the replicas
        std::size_t votes = 0;                 // number of replies that name `where`
        std::vector<server_address> servers{}; // all servers in these replies
    };
    struct disputed_primary {
        server_address where{};
        time_point since{};
    };

    proposal propose(std::span<const sentinel_answer>) const;
    std::vector<sentinel_answer> without_unknown_primaries(std::span<const sentinel_answer>,
                                                           std::size_t asked) const;
    bool is_unknown(const server_address&) const;
    std::vector<sentinel_answer> of_our_service(std::span<const sentinel_answer>,
                                                std::size_t asked) const;
    bool is_known(const server_address&) const;
    void elect(proposal&, std::span<const sentinel_answer>) const;
    bool speaks_against_us(const proposal&) const;
    bool is_agreed(const proposal&, time_point now);
    void go_to(const server_address&);

    std::optional<server_address> primary_;
    std::optional<std::uint64_t> epoch_;
    // Servers of our service, from the replies that were accepted.
    std::vector<server_address> servers_;
    bool knows_replicas_ = false;      // true: `servers_` contains the replicas
    bool confirmed_ = false;           // true: most Sentinels have named our primary
    std::vector<server_address> left_; // former primaries, the latest at the end
    std::optional<disputed_primary> disputed_;
};

/// Subscription to the switches of the primary that one Sentinel announces. If the subscription is
/// lost, it moves to the next Sentinel. A client has two of these subscriptions, because the
/// Sentinel that leads a failover announces the switch a second later than the others.
class sentinel_subscriber : public std::enable_shared_from_this<sentinel_subscriber> {
public:
    using news = std::function<void(const primary_switch&)>;

    /// Creates the subscription. `first` is the index of the Sentinel to use first.
    sentinel_subscriber(known_context, std::size_t first, news);

    void open();
    void close();

private:
    /// Time without a message after which the Sentinel gets a PING.
    static constexpr duration idle_max = std::chrono::seconds{10};
    static constexpr duration pause_min{250};
    static constexpr duration pause_max = std::chrono::seconds{10};

    using self = std::shared_ptr<sentinel_subscriber>;
    using shared_connection = std::shared_ptr<connection>;

    static asio::awaitable<void> keep_hearing(self);
    static asio::awaitable<void> notice_silence(self, shared_connection);
    asio::awaitable<void> hear_one(shared_connection);
    void take(const reply&);
    target next_target();

    const known_context context_;
    std::size_t next_;
    const news tell_;
    const std::unique_ptr<alarm> rest_;
    const std::unique_ptr<alarm> silence_;
    shared_connection line_;
    time_point heard_at_{};
    bool closed_ = false;
};

/// Finds the primary by asking its Sentinels, and stores its address in `node_context::where`. Asks
/// them when a connection is first needed, then periodically, and more often while the primary may
/// be down. Also asks them when one of two subscribed Sentinels announces a switch.
class sentinel_watch : public std::enable_shared_from_this<sentinel_watch> {
public:
    /// Called on the executor when the primary has changed. The argument names the source of this
    /// information.
    using on_move = std::function<void(const std::string& told_by)>;
    sentinel_watch(std::shared_ptr<node_context>, on_move);

    /// Callbacks of the connections. The members of `node_context` with the same names explain
    /// them.
    asio::awaitable<void> find(time_point limit);
    void in_trouble();

    void close();

private:
    /// How long the primary is assumed to be down after a call of in_trouble().
    static constexpr duration trouble_lasts = std::chrono::seconds{1};
    /// Least and greatest time between two rounds of questions while the primary may be down.
    static constexpr duration hurried_min{100};
    static constexpr duration hurried_max{250};
    /// Longest time between two rounds of questions while the primary seems to be up.
    static constexpr duration unhurried = std::chrono::seconds{10};
    /// For this time after the first primary, the client asks the Sentinels each `start_period`,
    /// until more than half of them have named the primary. The first reply may come from a
    /// Sentinel that is out of date or watches another service.
    static constexpr duration start_lasts = std::chrono::minutes{1};
    static constexpr duration start_period = std::chrono::seconds{1};
    /// When more than half of the Sentinels have replied, a round of questions waits for the other
    /// Sentinels until this time after its start. A later reply is evaluated when it arrives.
    static constexpr duration settles_in{300};

    static constexpr std::size_t subscribers_max = 2;

    using self = std::shared_ptr<sentinel_watch>;
    static asio::awaitable<void> watch(self);
    asio::awaitable<void> ask_all();
    asio::awaitable<void> rest();
    void judge_late(bool also_of_the_last);
    void judge(const inquiries&);
    void hear(const primary_switch&);
    void go_to(const server_address&, const std::string& told_by);
    void wake_finders();
    void begin();
    bool is_start() const;

    const std::shared_ptr<node_context> context_;
    const on_move moved_;
    const std::unique_ptr<alarm> wake_;
    sentinel_choice choice_;
    struct round {
        std::shared_ptr<inquiries> asked;
        std::size_t judged = 0; ///< number of replies and failures at the last evaluation
    };
    std::vector<round> rounds_; // rounds in which some Sentinel has not replied
    std::vector<std::shared_ptr<sentinel_subscriber>> subscribers_;
    std::set<alarm*> finders_;
    std::string silence_ = "no Sentinel has answered yet"; // why `where` is not known
    bool unknown_service_ = false; // true: Sentinels replied, but none knows the service
    bool running_ = false;
    time_point trouble_until_ = time_point::min();
    time_point found_at_{}; // when the first primary became known
    bool closed_ = false;
};

} // namespace holdfast::redis
