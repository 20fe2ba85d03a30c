// SPDX-License-Identifier: Apache-2.0
#include "net/failure.hpp"
#include "store/remote/diagnostics.hpp"
#include "store/zookeeper/inspector.hpp"
#include "store/zookeeper/locks.hpp"
#include "store/zookeeper/nodes.hpp"
#include "store/zookeeper/zookeeper_store.hpp"

#include <holdfast/error.hpp>

#include <boost/system/system_error.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

namespace holdfast::zookeeper {
namespace {

class survey_findings {
public:
    explicit survey_findings(const survey& of)
        : of_{of} {}

    std::vector<finding> all() {
        for (const server_seen& each : of_.servers)
            judge(each);
        judge_silence();
        judge_leader();
        judge_way();
        return std::move(found_);
    }

private:
    void add(severity how_bad, const char* topic, std::string what, std::string remedy = {}) {
        found_.push_back({how_bad, topic, std::move(what), std::move(remedy)});
    }

    void judge(const server_seen& one) {
        if (!one.trouble.empty())
            return add(severity::warning, "servers",
                       "The server " + one.address + " could not be asked: " + one.trouble,
                       "Start this server again, or remove it from the URL. A client that loses "
                       "its server connects to another server of the URL.");
        std::string what = "The server " + one.address + " replied within " +
                           std::to_string(one.delay.count()) + " ms.";
        if (!one.role.empty())
            what += " Its role is " + one.role + ".";
        if (!one.version.empty())
            what += " Its version is " + one.version + ".";
        add(severity::fine, "servers", std::move(what));
    }

    std::size_t count(bool (*which)(const server_seen&)) const {
        return static_cast<std::size_t>(std::ranges::count_if(of_.servers, which));
    }
    static bool is_silent(const server_seen& one) {
        return one.trouble.empty() && one.role.empty();
    }
    static bool stands_alone(const server_seen& one) { return one.role == "standalone"; }
    static bool leads(const server_seen& one) { return one.role == "leader"; }
    static bool follows(const server_seen& one) { return !one.role.empty() && !leads(one); }

    void judge_silence() {
        const std::size_t silent = count(is_silent);
        if (silent > 0)
            add(severity::note, "servers",
                std::to_string(silent) + " of " + std::to_string(of_.servers.size()) +
                    " servers did not reply to the command srvr. The doctor could not check their "
                    "versions, and which server is the leader.",
                "Locks do not need this command. A proxy may block it, or the server may be too "
                "old. Test it: echo srvr | nc HOST 2181");
    }

    void judge_leader() {
        if (count(stands_alone) > 0 && of_.servers.size() > 1)
            return add(severity::danger, "leader",
                       "One of the servers runs without an ensemble (standalone). A lock on this "
                       "server does not exclude clients of the other servers.",
                       "Name only servers of one ensemble in the URL.");
        if (count(leads) > 1)
            return add(severity::danger, "leader",
                       "Two servers are leaders. They belong to different ensembles, or an "
                       "election is in progress.",
                       "Run the doctor again. If the result stays the same, name only servers of "
                       "one ensemble in the URL.");
        const auto leader = std::ranges::find_if(of_.servers, leads);
        if (leader != of_.servers.end())
            return add(severity::fine, "leader",
                       "The leader is " + leader->address + ", in epoch " +
                           std::to_string(leader->epoch) + ".");
        if (count(follows) == of_.servers.size() && count(stands_alone) == 0)
            add(severity::note, "leader", "None of the servers in the URL is the leader.",
                "Name all servers of the ensemble in the URL, so that clients can use the "
                "remaining servers when some servers are down.");
    }

    void judge_way() {
        if (of_.over_tls)
            return add(severity::fine, "tls", "The connections are encrypted.");
        add(severity::note, "tls",
            "The connections are not encrypted. An attacker on the network can read and change "
            "the data.",
            "If others use this network, add this parameter to the URL: tls=yes");
    }

    const survey& of_;
    std::vector<finding> found_;
};

} // namespace

std::vector<finding> judge_servers(const survey& seen) {
    return survey_findings{seen}.all();
}

namespace {

/// A request is reported as slow if it takes more than 1/20 of the session's timeout. The client
/// sends a heartbeat every sixth of the timeout. If a heartbeat fails, the client must be able to
/// repeat it several times before the next one is due.
constexpr int slow_part_of_session = 20;

/// Maximum number of locks that are examined. Each lock costs two requests.
constexpr std::size_t looked_at_most = 100;

constexpr std::int64_t numbers_of_the_old = std::int64_t{1} << 30;

constexpr int releases_max = 3;

finding finding_of(const char* topic, const boost::system::system_error& why) {
    return {severity::danger, topic, net::story_of(why), why.code().message()};
}

std::string ms(duration length) {
    return std::to_string(length.count()) + " ms";
}

/// Returns how many children have ever been created below the node. The number includes deleted
/// children.
std::int64_t numbers_given(const node_stat& of) {
    return (std::int64_t{of.child_version} + of.children) / 2;
}

class examination {
public:
    examination(std::shared_ptr<store_session> home, ask trial, duration asked)
        : home_{std::move(home)}
        , trial_{std::move(trial)}
        , asked_{asked}
        , wake_{home_->context.time.make_alarm()} {
        trial_.waits = false;
    }

    asio::awaitable<std::vector<finding>> run() {
        const bool reached = co_await reach();
        co_await look_around();
        if (!reached)
            co_return std::move(found_);
        judge_session();
        co_await try_lock();
        co_await look_at_locks();
        co_return std::move(found_);
    }

private:
    void add(severity how_bad, const char* topic, std::string what, std::string remedy = {}) {
        found_.push_back({how_bad, topic, std::move(what), std::move(remedy)});
    }

    asio::awaitable<bool> reach() {
        try {
            std::string root = "/";
            co_await home_->at->sync(root);                 // this request opens the session
            (void)co_await home_->at->get(std::move(root)); // throws if there is no chroot
            const std::vector<std::string> nothing;
            const time_point began = home_->context.time.now();
            co_await home_->at->confirm(nothing, time_point::max());
            took_ = home_->context.time.now() - began;
            add(severity::fine, "reach",
                "The server " + home_->at->address() + " replied to a write within " + ms(took_) +
                    ".");
            co_return true;
        } catch (const boost::system::system_error& why) {
            found_.push_back(finding_of("reach", why));
            co_return false;
        }
    }

    asio::awaitable<void> look_around() {
        try {
            const survey seen = co_await home_->at->look_around();
            std::ranges::move(judge_servers(seen), std::back_inserter(found_));
        } catch (const boost::system::system_error& why) {
            found_.push_back(finding_of("servers", why));
        }
    }

    void judge_session() {
        const duration granted = home_->at->state().timeout;
        if (took_ * slow_part_of_session > granted)
            add(severity::warning, "session",
                "The session timeout is " + ms(granted) +
                    ". This is short for a server that needs " + ms(took_) + " to reply.",
                "Use a longer session_timeout or lease_time.");
        if (granted == asked_)
            return add(severity::fine, "session",
                       "The session timeout is " + ms(granted) + ", as requested.");
        const bool shorter = granted < asked_;
        add(severity::note, "session",
            "The session timeout is " + ms(granted) + ", but the client requested " + ms(asked_) +
                ". After a client has died, its locks stay held for this timeout.",
            shorter ? "The server's setting maxSessionTimeout allows no longer timeout. Raise this "
                      "setting, or request a shorter timeout."
                    : "The server's setting minSessionTimeout allows no shorter timeout.");
    }

    asio::awaitable<void> try_lock() {
        std::optional<lock_place> spot{std::in_place, home_, trial_, *wake_};
        bool taken = false;
        try {
            taken = (co_await spot->look()).granted;
            if (!taken)
                found_.push_back(remote::trial_lock_is_held(trial_.name));
        } catch (const boost::system::system_error& why) {
            found_.push_back(finding_of("rights", why));
            if (why.code() == store_errc::no_permission)
                found_.back().remedy = "Grant the permission create on '" + home_->where.root() +
                                       "', and the permissions create, delete and read on the "
                                       "nodes below (docs/security/zookeeper.md).";
        }
        if (taken)
            co_await renew();
        co_await leave(*spot, taken);
    }

    asio::awaitable<void> renew() {
        const hold* const held[] = {&trial_};
        single_renewal renewed;
        co_await renew_holds(home_, held, time_point::max(), renewed);
        try {
            if (!renewed.said().granted)
                found_.push_back(remote::trial_lock_was_lost(
                    "Find out which program has deleted the node of the lock."));
        } catch (const boost::system::system_error& why) {
            found_.push_back(finding_of("rights", why));
        }
    }

    /// Deletes the nodes of the trial lock, even if an earlier step failed.
    asio::awaitable<void> leave(lock_place& spot, bool taken) {
        for (int left = releases_max; left > 0; --left) {
            try {
                co_await spot.leave();
                if (taken)
                    found_.push_back(remote::trial_went_well(trial_.name));
                co_return;
            } catch (const boost::system::system_error& why) {
                if (left == 1)
                    found_.push_back(finding_of("rights", why));
            }
        }
    }

    asio::awaitable<void> look_at_locks() {
        if (home_->where.root().empty())
            co_return; // without a root, the locks may have any path
        try {
            found_paths all = co_await find_paths(*home_, "*");
            if (all.entries.size() > looked_at_most)
                all.entries.resize(looked_at_most);
            for (const found_paths::entry& each : all.entries)
                co_await look_at(each);
        } catch (const boost::system::system_error& why) {
            found_.push_back(finding_of("rights", why));
        }
    }

    asio::awaitable<void> look_at(const found_paths::entry& one) {
        const std::optional<node_data> node = co_await home_->at->get(one.path);
        if (node && numbers_given(node->stat) > numbers_of_the_old)
            add(severity::warning, "numbers",
                "The path '" + one.path + "' has had " + std::to_string(numbers_given(node->stat)) +
                    " nodes. From about 2146000000 nodes on, the lock is refused.",
                "Clients of holdfast delete the path if it is empty after a release. Otherwise, "
                "delete it while no client uses the lock: delete " +
                    one.path);
        const listing names = co_await home_->at->list(one.path);
        const auto has = [&](bool kazoos) {
            return names && std::ranges::any_of(*names, [&](const std::string& each) {
                       const bool is_kazoos = each.find("__lock__") != each.npos ||
                                              each.find("__rlock__") != each.npos;
                       return contender_at(each) && is_kazoos == kazoos;
                   });
        };
        if (has(true) && has(false))
            add(severity::danger, "peers",
                "The path '" + one.path +
                    "' has nodes of kazoo and nodes of Curator. Locks of kazoo and locks of "
                    "Curator "
                    "do not exclude each other.",
                "Use different paths for kazoo and Curator, or let the kazoo clients name their "
                "nodes as Curator does.");
    }

    const std::shared_ptr<store_session> home_;
    ask trial_;
    const duration asked_;
    const std::unique_ptr<alarm> wake_;
    duration took_{};
    std::vector<finding> found_;
};

} // namespace

asio::awaitable<std::vector<finding>> examine_ensemble(std::shared_ptr<store_session> home,
                                                       ask trial, duration asked) {
    examination all{std::move(home), std::move(trial), asked};
    co_return co_await all.run();
}

} // namespace holdfast::zookeeper
