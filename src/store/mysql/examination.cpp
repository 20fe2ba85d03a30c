// SPDX-License-Identifier: Apache-2.0
#include "store/mysql/examination.hpp"

#include "net/failure.hpp"
#include "store/mysql/bells.hpp"
#include "store/mysql/clauses.hpp"
#include "store/mysql/kinds.hpp"
#include "store/mysql/renewal.hpp"
#include "store/mysql/server_findings.hpp"
#include "store/remote/diagnostics.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <string>
#include <utility>

namespace holdfast::mysql {
namespace {

using std::chrono::microseconds;

/// Maximum number of attempts to release until the server confirms the release. Also the maximum
/// number of attempts to take the lock until an attempt is in time.
constexpr int repeats_max = 3;

finding trouble(const char* topic, const boost::system::system_error& why) {
    return {severity::danger, topic, net::story_of(why), why.code().message()};
}

class examination {
public:
    examination(site& at, ask trial)
        : at_{at}
        , bells_{at}
        , lease_time_{trial.lease_time}
        , trial_{std::move(trial)}
        , how_{*verbs_of(trial_.kind)} {
        trial_.lease_time = std::min(lease_time_, 4 * at.server.command_timeout());
    }

    asio::awaitable<std::vector<finding>> run() {
        if (const bool reached = co_await reach(); !reached)
            co_return std::move(found_);
        if (const auto facts = at_.server.facts()) {
            std::ranges::move(judge(*facts), std::back_inserter(found_));
            judge_connections(*facts);
        }
        if (const bool taken = co_await take(); taken) {
            co_await renew();
            judge_bell();
        }
        if (may_hold_)
            co_await release();
        co_return std::move(found_);
    }

private:
    void add(severity how_bad, const char* topic, std::string what, std::string remedy = {}) {
        found_.push_back({how_bad, topic, std::move(what), std::move(remedy)});
    }

    asio::awaitable<bool> reach() {
        const auto make = [](const runtime::remote_clock&, const server_facts&) {
            return std::vector<std::string>{"SELECT " + std::string{runs_text}};
        };
        composing text{make};
        try {
            co_await at_.server.run(text); // this first request makes the connection
            const answers said = co_await at_.server.run(text);
            found_.push_back(remote::judge_delay(said.received_at - said.sent_at, lease_time_));
            const microseconds shown{number_at(answer_at(said, 0).rows.at(0), 0)};
            found_.push_back(remote::judge_clock(shown));
            co_return true;
        } catch (const boost::system::system_error& why) {
            found_.push_back(trouble("reach", why));
            co_return false;
        }
    }

    void judge_connections(const server_facts& it) {
        constexpr std::uint64_t usual_of_a_client = 12;
        if (it.connections_of_user_max != 0 && it.connections_of_user_max < usual_of_a_client)
            add(severity::warning, "connections",
                "this user may have " + std::to_string(it.connections_of_user_max) +
                    " connections, and a client uses up to " + std::to_string(usual_of_a_client),
                "Raise max_user_connections, or lower connections_max and wait_connections_max.");
    }

    asio::awaitable<bool> take() {
        try {
            may_hold_ = true;
            taken got;
            for (int left = repeats_max; left > 0; --left) {
                take_terms limit{at_.context.time.now() + at_.server.command_timeout()};
                got = co_await how_.take(at_, trial_, std::move(limit));
                if (got.seen.said != verdict::late)
                    break; // the answer to a late attempt contains the server's time
                if (got.seen.clock)
                    got.seen.clock->learn(got.seen.sent_at, got.seen.received_at,
                                          got.seen.server_now);
            }
            may_hold_ = got.seen.said == verdict::granted;
            bell_ = got.bell;
            if (may_hold_)
                co_return true;
            found_.push_back(remote::trial_lock_is_held(trial_.name));
        } catch (const boost::system::system_error& why) {
            may_hold_ = why.code() == errc::outcome_unknown;
            found_.push_back(
                trouble(why.code() == store_errc::not_set_up ? "tables" : "rights", why));
        }
        co_return false;
    }

    asio::awaitable<void> renew() {
        const hold* const held[] = {&trial_};
        const renewal_wishes how{.lease_time = trial_.lease_time};
        single_renewal renewed;
        co_await renew_holds(at_, bells_, held, how, renewed);
        try {
            renewed_ = renewed.said().granted;
            if (!renewed_)
                found_.push_back(remote::trial_lock_was_lost(
                    "Look for what deletes rows: another program, an event."));
        } catch (const boost::system::system_error& why) {
            found_.push_back(trouble("rights", why));
        }
    }

    void judge_bell() {
        if (bell_)
            add(severity::fine, "waking", "waiters are called by user locks");
        else if (at_.server.has_bells())
            add(severity::note, "waking",
                "the user lock that calls waiters could not be taken: waiters poll then",
                "Look whether another program uses user locks that begin with 'hf:'.");
        else
            add(severity::note, "waking", "user locks are not used here: waiters poll");
    }

    asio::awaitable<void> release() {
        for (int left = repeats_max; left > 0; --left) {
            try {
                const released outcome = co_await how_.release(at_, trial_, bell_);
                if (outcome.was_ours && renewed_)
                    found_.push_back(remote::trial_went_well(trial_.name));
                co_return;
            } catch (const boost::system::system_error& why) {
                if (left > 1 && why.code() != errc::refused && why.code() != errc::closed)
                    continue;
                found_.push_back(trouble("rights", why));
                co_return;
            }
        }
    }

    site& at_;
    bells bells_;
    const duration lease_time_;
    ask trial_;
    const verbs& how_;
    std::shared_ptr<carrier> bell_;
    bool may_hold_ = false, renewed_ = false;
    std::vector<finding> found_;
};

} // namespace

asio::awaitable<std::vector<finding>> examine_server(site& at, ask trial) {
    examination all{at, std::move(trial)};
    co_return co_await all.run();
}

} // namespace holdfast::mysql
