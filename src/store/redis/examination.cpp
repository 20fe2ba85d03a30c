// SPDX-License-Identifier: Apache-2.0
#include "store/redis/examination.hpp"

#include "net/failure.hpp"
#include "store/redis/client_cards.hpp"
#include "store/redis/confirmation.hpp"
#include "store/redis/denials.hpp"
#include "store/redis/kinds.hpp"
#include "store/redis/renewal.hpp"
#include "store/redis/scripts.hpp"
#include "store/redis/server_facts.hpp"
#include "store/redis/topology_findings.hpp"
#include "store/remote/card_of.hpp"
#include "store/remote/trial_findings.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

namespace holdfast::redis {
namespace {

finding trouble(const char* topic, const boost::system::system_error& why) {
    return {severity::danger, topic, net::story_of(why), why.code().message()};
}

/// Returns the lease of the trial lock. It is short, in case the lock cannot be released. It is
/// long enough to take the lock, to subscribe and to renew.
duration trial_lease(const node& server, duration lease_time) {
    return std::min(lease_time, 3 * server.command_timeout() + confirmation_patience);
}

/// Maximum number of attempts to release the trial lock.
constexpr int releases_max = 3;

/// Returns whether the error means that no request can have taken the lock.
bool did_nothing(const error_code& why) {
    return why == errc::unreachable || why == errc::refused || why == errc::closed ||
           why == errc::overloaded;
}

/// Returns whether another attempt would get the same error.
bool is_final(const error_code& why) {
    return why == errc::refused || why == errc::closed;
}

class examination {
public:
    examination(node& server, const store_context& context, ask trial)
        : server_{server}
        , context_{context}
        , lease_time_{trial.lease_time}
        , trial_{std::move(trial)}
        , how_{*verbs_of(trial_.kind)} {
        trial_.lease_time = trial_lease(server, lease_time_);
    }

    asio::awaitable<std::vector<finding>> run() {
        if (const bool reached = co_await look_at_server(); !reached)
            co_return std::move(found_);
        co_await look_around();
        const bool taken = co_await take_lock();
        if (taken) {
            co_await listen();
            co_await renew();
        }
        if (may_hold_)
            co_await release();
        if (taken)
            co_await say_who();
        co_return std::move(found_);
    }

private:
    void add(severity how_bad, const char* topic, std::string what, std::string remedy = {}) {
        found_.push_back({how_bad, topic, std::move(what), std::move(remedy)});
    }

    asio::awaitable<bool> look_at_server() {
        const std::string_view keys[] = {trial_.name.text};
        try {
            const reply said = co_await server_.call(scripts::examine_server, keys, {});
            const duration took = said.received_at - said.sent_at;
            found_.push_back(remote::judge_delay(took, lease_time_));
            info_ = said.text;
            co_return true;
        } catch (const boost::system::system_error& why) {
            if (why.code() != store_errc::no_permission ||
                net::story_of(why).find("+info") == std::string::npos) {
                found_.push_back(trouble("reach", why));
                co_return false;
            }
            add(severity::warning, "rights",
                "INFO is denied: version, eviction, persistence, replicas and clients were not "
                "looked at",
                "Grant +info to the user that asks.");
            co_return true;
        }
    }

    /// Examines all servers of the topology. If the topology is not known, judges the INFO of this
    /// server alone.
    asio::awaitable<void> look_around() {
        topology_report all;
        try {
            all = co_await server_.survey();
        } catch (const boost::system::system_error& why) {
            add(severity::warning, "topology", "it could not be examined: " + net::story_of(why),
                why.code().message());
        }
        std::vector<finding> seen;
        if (all.what != topology_report::kind::unknown) {
            seen = judge_topology(all, {lease_time_, trial_.replicas}, info_);
        } else if (!info_.empty()) {
            const server_facts facts{info_};
            seen = facts.judge();
            seen.push_back(facts.role());
        }
        std::ranges::move(seen, std::back_inserter(found_));
    }

    asio::awaitable<bool> take_lock() {
        try {
            const server_deadline limit{context_.time.now() + server_.command_timeout()};
            may_hold_ = true;
            attempt got = co_await how_.take(server_, trial_, limit);
            judge_clock(got);
            may_hold_ = got.said == verdict::granted;
            if (may_hold_)
                judge_confirmed(got);
            if (may_hold_)
                co_return true;
            found_.push_back(remote::trial_lock_is_held(trial_.name));
        } catch (const boost::system::system_error& why) {
            may_hold_ = !did_nothing(why.code());
            found_.push_back(trouble("rights", why));
        }
        co_return false;
    }

    /// Reports that too few replicas confirmed the trial lock. The later steps are tried all the
    /// same.
    void judge_confirmed(attempt& got) {
        if (judge_confirmation(got, trial_.replicas) == confirmation::enough)
            return;
        add(severity::danger, "replicas", "a lock is not granted: " + got.unconfirmed,
            "INFO replication shows which replicas are connected, and how far they are behind.");
        trial_.replicas = 0;
    }

    void judge_clock(const attempt& got) {
        if (got.server_now == got.server_now.zero())
            return add(severity::warning, "clock",
                       "TIME is denied: what the server carries out late can take a lock for "
                       "nobody, until its lease ends",
                       "Grant +time.");
        found_.push_back(remote::judge_clock(got.server_now));
    }

    asio::awaitable<void> listen() {
        const std::unique_ptr<alarm> wake = context_.time.make_alarm();
        const channel_name channel = how_.told_on(trial_);
        const std::unique_ptr<hearing> ear = server_.hear(channel, *wake);
        const time_point give_up_at = context_.time.now() + confirmation_patience;
        const bool is_heard = co_await ear->confirmed(give_up_at);
        if (is_heard)
            co_return add(severity::fine, "listening", "releases will be heard");
        add(severity::warning, "listening",
            "releases are not heard: waiters find a free lock only when they ask by themselves",
            "Grant +subscribe &" + channel.text + "; the observer hears the server's words.");
    }

    asio::awaitable<void> renew() {
        const hold* const held[] = {&trial_};
        const renewal_wishes how{.lease_time = trial_.lease_time};
        single_renewal renewed;
        co_await renew_holds(server_, context_.executor, held, how, renewed);
        try {
            renewed_ = renewed.said().granted;
            if (!renewed_)
                found_.push_back(remote::trial_lock_was_lost(
                    "Look for what deletes keys: eviction, FLUSHALL, another program."));
        } catch (const boost::system::system_error& why) {
            found_.push_back(trouble("rights", why));
        }
    }

    /// Releases the trial lock, even if an earlier step failed. Repeats the request while its
    /// outcome is unknown.
    asio::awaitable<void> release() {
        for (int left = releases_max; left > 0; --left) {
            try {
                judge_release(co_await how_.release(server_, trial_));
                co_return;
            } catch (const boost::system::system_error& why) {
                if (left > 1 && !is_final(why.code()))
                    continue;
                found_.push_back(trouble("rights", why));
                co_return;
            }
        }
    }

    void judge_release(const released& outcome) {
        if (outcome.denied_message)
            add(severity::warning, "rights",
                std::string{server_.telling_commands().command} +
                    " is denied: a release wakes nobody",
                "Grant " + rights_to_tell(server_.telling_commands(), how_.told_on(trial_)) + ".");
        else if (renewed_)
            found_.push_back(remote::trial_went_well(trial_.name));
    }

    // Tries to write and delete a description of this client. Uses a separate key, because the
    // client may use its own key at the same time.
    asio::awaitable<void> say_who() {
        if (!context_.announce)
            co_return;
        const std::string key = client_key(context_.client) + ":doctor";
        try {
            co_await announce_client(server_, key, remote::card_of(context_), trial_.lease_time);
            co_await announce_client(server_, key, remote::card_of(context_), duration::zero());
            add(severity::fine, "identity", "clients can say who holds a lock");
        } catch (const boost::system::system_error& why) {
            add(severity::note, "identity",
                "clients cannot say who they are, and so not who holds a lock: " +
                    net::story_of(why),
                "Grant +set +del ~holdfast_client:*, or set options::announce = false.");
        }
    }

    node& server_;
    const store_context& context_;
    const duration lease_time_;
    ask trial_;
    const verbs& how_;
    std::string info_;
    bool may_hold_ = false;
    bool renewed_ = false;
    std::vector<finding> found_;
};

} // namespace

asio::awaitable<std::vector<finding>> examine_server(node& server, const store_context& context,
                                                     ask trial) {
    examination all{server, context, std::move(trial)};
    co_return co_await all.run();
}

} // namespace holdfast::redis
