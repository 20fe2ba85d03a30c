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
            return add(severity::warning, "servers", one.address + ": " + one.trouble,
                       "Bring it back, or take it out of the URL: a client that loses its server "
                       "goes on to the next one.");
        std::string what =
            one.address + ": answers within " + std::to_string(one.delay.count()) + " ms";
        if (!one.role.empty())
            what += ", " + one.role;
        if (!one.version.empty())
            what += ", version " + one.version;
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
                    " do not say what they are: version and leader were not looked at there",
                "Let the word srvr through: a proxy keeps it back, or the server is an old one. "
                "Locks do not need it.");
    }

    void judge_leader() {
        if (count(stands_alone) > 0 && of_.servers.size() > 1)
            return add(severity::danger, "leader",
                       "one of several servers is an ensemble of its own (standalone): locks there "
                       "exclude nobody at the others",
                       "Name only servers of one ensemble.");
        if (count(leads) > 1)
            return add(severity::danger, "leader",
                       "two servers lead: they are of different ensembles, or an election is under "
                       "way",
                       "Ask again. If it stays so, name only servers of one ensemble.");
        const auto leader = std::ranges::find_if(of_.servers, leads);
        if (leader != of_.servers.end())
            return add(severity::fine, "leader",
                       leader->address + " leads, in epoch " + std::to_string(leader->epoch));
        if (count(follows) == of_.servers.size() && count(stands_alone) == 0)
            add(severity::note, "leader", "none of the servers in the URL leads",
                "Name all servers of the ensemble, so that clients find those that are left.");
    }

    void judge_way() {
        if (of_.over_tls)
            return add(severity::fine, "tls", "the connections are encrypted");
        add(severity::note, "tls",
            "the connections are not encrypted: whoever is on the way reads and changes them",
            "Use ?tls=yes where the way leads over a network that others use.");
    }

    const survey& of_;
    std::vector<finding> found_;
};

} // namespace

std::vector<finding> judge_servers(const survey& seen) {
    return survey_findings{seen}.all();
}

namespace {

/// A request that takes more than 1/20 of the session's timeout is reported as slow. A heartbeat is
/// sent every sixth of the timeout. If the heartbeat fails, it must be sent again several times
/// before the next heartbeat.
constexpr int slow_part_of_session = 20;

/// Maximum number of locks that are examined. The examination of a lock costs two requests.
constexpr std::size_t looked_at_most = 100;

constexpr std::int64_t numbers_of_the_old = std::int64_t{1} << 30;

constexpr int releases_max = 3;

finding finding_of(const char* topic, const boost::system::system_error& why) {
    return {severity::danger, topic, net::story_of(why), why.code().message()};
}

std::string ms(duration length) {
    return std::to_string(length.count()) + " ms";
}

/// Returns how many children were ever created below the node; deleted children count, too.
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
                home_->at->address() + ": a write is answered within " + ms(took_));
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
                "a session of " + ms(granted) + " is short for a way of " + ms(took_),
                "Give a longer session_timeout or lease_time.");
        if (granted == asked_)
            return add(severity::fine, "session", "it lasts " + ms(granted) + ", as asked for");
        const bool shorter = granted < asked_;
        add(severity::note, "session",
            "it lasts " + ms(granted) + ", and " + ms(asked_) + " were asked for: a hold ends so " +
                "long after its client has died",
            shorter ? "The server's maxSessionTimeout allows no more: raise it, or ask for less."
                    : "The server's minSessionTimeout allows no less.");
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
                found_.back().remedy = "Grant create on '" + home_->where.root() +
                                       "', and create, delete and read below it.";
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
                found_.push_back(remote::trial_lock_was_lost("Look for who deletes nodes."));
        } catch (const boost::system::system_error& why) {
            found_.push_back(finding_of("rights", why));
        }
    }

    /// Deletes the nodes of the trial lock, even after a failure.
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
            co_return; // the locks may have any path
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
                "'" + one.path + "' has had " + std::to_string(numbers_given(node->stat)) +
                    " nodes: from some 2146000000 on the lock is refused",
                "Delete that path while nobody uses it. Clients of holdfast do it when they "
                "release, and find it empty.");
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
                "kazoo's nodes and Curator's are below '" + one.path +
                    "': these two do not exclude each other",
                "Give each of them paths of its own; or let kazoo's name their nodes as Curator "
                "does.");
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
