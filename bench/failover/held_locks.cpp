// SPDX-License-Identifier: Apache-2.0
#include "bench/failover/held_locks.hpp"

#include "support/eventually.hpp"

#include <stdexcept>
#include <string>
#include <string_view>

namespace holdfast::bench {

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

/// Returns whether a client has subscribed to this lock's channel. Asks all nodes, because some
/// clients subscribe at a replica.
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

/// Returns whether the release succeeded. A cluster node may reply for a short time that the
/// cluster is down.
bool held_locks::takes(way& one, const std::string& release) try {
    requests::expect_released(*ask_composed(one.to, release));
    return true;
} catch (const server_error&) {
    return false;
}

} // namespace holdfast::bench
