// SPDX-License-Identifier: Apache-2.0
#include "bench/failover/failover.hpp"

#include "support/eventually.hpp"

#include <holdfast/client.hpp>
#include <holdfast/mutex.hpp>

#include <algorithm>
#include <future>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <thread>

namespace holdfast::bench {
namespace {

using namespace std::chrono_literals;

constexpr auto waits_at_most = 45s; // the same as on Redisson's side
constexpr auto between_calls = 10ms;

moment taken(mutex& lock) {
    const moment limit = std::chrono::steady_clock::now() + waits_at_most;
    for (;;) {
        const moment now = std::chrono::steady_clock::now();
        try {
            if (!lock.try_lock_for(std::chrono::ceil<duration>(limit - now)))
                return limit;
            const moment granted = std::chrono::steady_clock::now();
            lock.unlock();
            return granted;
        } catch (const boost::system::system_error&) {
            if (now >= limit)
                throw;
            std::this_thread::sleep_for(between_calls);
        }
    }
}

/// Caller of holdfast with its own client.
class caller {
public:
    caller(const std::string& url, const std::string& name)
        : client_{url}
        , lock_{client_, name} {}

    void take_once() { taken(lock_); }
    void begin() {
        granted_ = std::async(std::launch::async, [this] { return taken(lock_); });
    }
    moment finish() { return granted_.get(); }

private:
    client client_;
    mutex lock_;
    std::future<moment> granted_;
};

class ours final : public applicants {
public:
    void prepare(const realm& where, const wanted_locks& names) override {
        const std::string url = where.url() + "?announce=no";
        asker_.emplace(url, names.free).take_once();
        waiter_.emplace(url, names.held).begin();
    }

    void ask() override { asker_.value().begin(); }

    grants finish() override {
        const grants both{asker_.value().finish(), waiter_.value().finish()};
        asker_.reset();
        waiter_.reset();
        return both;
    }

private:
    std::optional<caller> asker_, waiter_;
};

} // namespace

std::unique_ptr<applicants> our_applicants() {
    return std::make_unique<ours>();
}

namespace {

/// The callers that use Redisson. Their code is bench/redisson/holdfast/bench/Failover.java.
class redissons final : public applicants {
public:
    explicit redissons(peer& java)
        : java_{java} {}

    void prepare(const realm& where, const wanted_locks& names) override {
        java_.begin("failover-prepare", 1, {},
                    " " + names.free + " " + names.held + " " + where.words_for_redisson());
        java_.finish();
    }

    void ask() override { java_.begin("failover", 1, {}); }

    grants finish() override {
        const tally told = java_.finish();
        if (told.samples.size() != 2)
            throw std::runtime_error{"Redisson's side tells no two moments"};
        return {moment{told.samples[0]}, moment{told.samples[1]}};
    }

private:
    peer& java_;
};

} // namespace

std::unique_ptr<applicants> redissons_applicants(redisson& all) {
    return std::make_unique<redissons>(all.process());
}

held_locks::held_locks(realm& servers, const std::vector<int>& locks)
    : servers_{servers} {
    const auto replicas = servers.replicas();
    std::vector<support::redis_server*> all{&servers.primary()};
    all.insert(all.end(), replicas.begin(), replicas.end());
    for (const support::redis_server* each : all)
        all_.push_back({each->port(), connect_to(each->port())});

    const connection& primary = all_.front().to;
    for (const int lock : locks) {
        for (const way& each : all_)
            const requests scripts_are_known{lock, each.to};
        std::string text;
        holds_.emplace_back(lock, primary, servers.telling()).append_lock(text);
        requests::expect_granted(*ask_composed(primary, text));
    }
    const auto count = static_cast<int>(replicas.size());
    expect_confirmed(*ask(primary, {"WAIT", std::to_string(count), "10000"}), count);
}

void held_locks::wait_until_wanted() {
    for (const requests& each : holds_)
        support::until("somebody listens on " + each.channel(), [&] { return is_wanted(each); });
}

/// Returns whether a client has subscribed to this lock's channel. Asks all nodes, because a client
/// may have subscribed at a replica.
bool held_locks::is_wanted(const requests& hold) const {
    for (const way& each : all_) {
        const reply said = ask(each.to, {"PUBSUB", servers_.counting_listeners(), hold.channel()});
        if (said->elements == 2 && said->element[1]->integer > 0)
            return true;
    }
    return false;
}

moment held_locks::wait_until_promoted() {
    support::until("a replica is promoted", [this] {
        for (std::size_t i = 1; i < all_.size() && !promoted_; ++i)
            if (is_primary(all_[i]))
                promoted_ = &all_[i];
        return promoted_ != nullptr;
    });
    return std::chrono::steady_clock::now();
}

bool held_locks::is_primary(way& one) try {
    const reply role = ask(one.to, {"ROLE"});
    return std::string_view{role->element[0]->str} == "master";
} catch (const std::runtime_error&) {
    one.to = connect_to(one.port);
    return false;
}

void held_locks::release() {
    for (const requests& each : holds_) {
        std::string text;
        each.append_release(text);
        support::until("the new primary takes a release", [&] { return takes(*promoted_, text); });
    }
}

/// Releases a lock. Returns false if this failed: shortly after a failover, a cluster node may
/// still reply that the cluster is down.
bool held_locks::takes(way& one, const std::string& release) try {
    requests::expect_released(*ask_composed(one.to, release));
    return true;
} catch (const server_error&) {
    return false;
}

namespace {

/// Time that a waiter needs, after its subscription, to make one more attempt and to fall asleep.
constexpr auto asleep_after = 500ms;

/// Result of one round, in seconds.
struct seen_in_a_round {
    double promoted = 0;
    double free = 0, waiter = 0;             ///< holdfast: from the promotion to the grant
    double their_free = 0, their_waiter = 0; ///< Redisson: from the promotion to the grant
};

double seconds(std::chrono::steady_clock::duration length) {
    return std::chrono::duration<double>{length}.count();
}

double seconds_after(moment promoted, moment granted) {
    return std::max(0.0, seconds(granted - promoted));
}

/// Returns the first `count` locks in slots of the primary.
std::vector<int> locks_at_primary(const realm& servers, std::size_t count) {
    std::vector<int> found;
    for (int lock = 0; found.size() < count; ++lock)
        if (servers.is_kept_by_primary(name_of_lock(lock)))
            found.push_back(lock);
    return found;
}

seen_in_a_round fail_once(const failover& which, realm& servers, applicants& ours,
                          applicants* redissons) {
    servers.restore();
    const std::vector<int> locks = locks_at_primary(servers, 4);
    held_locks held{servers, redissons ? std::vector{locks[1], locks[3]} : std::vector{locks[1]}};
    ours.prepare(servers, {name_of_lock(locks[0]), name_of_lock(locks[1])});
    if (redissons)
        redissons->prepare(servers, {name_of_lock(locks[2]), name_of_lock(locks[3])});
    held.wait_until_wanted();
    std::this_thread::sleep_for(asleep_after);

    const moment failed = std::chrono::steady_clock::now();
    servers.fail(which.how);
    ours.ask();
    if (redissons)
        redissons->ask();
    const moment promoted = held.wait_until_promoted();
    held.release();

    seen_in_a_round seen;
    seen.promoted = seconds(promoted - failed);
    const grants of_ours = ours.finish();
    seen.free = seconds_after(promoted, of_ours.free);
    seen.waiter = seconds_after(promoted, of_ours.held);
    if (redissons) {
        const grants of_theirs = redissons->finish();
        seen.their_free = seconds_after(promoted, of_theirs.free);
        seen.their_waiter = seconds_after(promoted, of_theirs.held);
    }
    return seen;
}

std::vector<double> all_of(const std::vector<seen_in_a_round>& rounds,
                           double seen_in_a_round::*what) {
    std::vector<double> values;
    for (const seen_in_a_round& each : rounds)
        values.push_back(each.*what);
    return values;
}

} // namespace

std::vector<figure> hold_failover(const failover& which, realm& servers, applicants* redissons,
                                  int rounds, const std::function<void(int round)>& progress) {
    const auto ours = our_applicants();
    std::vector<seen_in_a_round> seen;
    for (int i = 1; i <= rounds; ++i) {
        progress(i);
        seen.push_back(fail_once(which, servers, *ours, redissons));
    }
    servers.restore();
    const auto theirs = [&](double seen_in_a_round::*what) {
        return redissons ? all_of(seen, what) : std::vector<double>{};
    };
    return figures(
        which.name, which.wanted,
        std::vector<comparison>{
            {".promoted", "s", better::lower, all_of(seen, &seen_in_a_round::promoted)},
            {".free", "s after that", better::lower, all_of(seen, &seen_in_a_round::free),
             theirs(&seen_in_a_round::their_free)},
            {".waiter", "s after that", better::lower, all_of(seen, &seen_in_a_round::waiter),
             theirs(&seen_in_a_round::their_waiter)}});
}

} // namespace holdfast::bench
