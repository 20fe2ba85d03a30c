// SPDX-License-Identifier: Apache-2.0
#include "bench/failover/realm.hpp"

#include "redis/topology/slot_map.hpp"

namespace holdfast::bench {
namespace {

std::string as_redisson_has_it(std::string what, const std::vector<std::string>& addresses) {
    for (const std::string& each : addresses)
        what += " redis://" + each;
    return what;
}

/// Cluster of three primaries, each with one replica. The primary of slot 0 fails.
class cluster final : public realm {
public:
    explicit cluster(support::redis_cluster& nodes)
        : nodes_{nodes} {}

    std::string url() const override { return url_of(nodes_); }

    std::string words_for_redisson() const override {
        return as_redisson_has_it("cluster", addresses_of(nodes_));
    }

    void restore() override { nodes_.restore(); }
    support::redis_server& primary() override { return nodes_.primary_of(0); }
    std::vector<support::redis_server*> replicas() override {
        return {&nodes_.replica_of(primary())};
    }

    /// Returns whether the failing primary has the lock's slot. The slots are distributed evenly,
    /// so the first primary has the first third.
    bool is_kept_by_primary(const std::string& name) const override {
        return redis::key_slot(name) < redis::slot_count / 3;
    }
    std::string_view telling() const override { return "SPUBLISH"; }
    std::string_view counting_listeners() const override { return "SHARDNUMSUB"; }

private:
    void order() override { support::require_answer(*replicas().at(0), {"CLUSTER", "FAILOVER"}); }

    support::redis_cluster& nodes_;
};

class sentinels final : public realm {
public:
    explicit sentinels(support::redis_sentinels& watchers)
        : watchers_{watchers} {}

    std::string url() const override { return url_of(watchers_); }

    std::string words_for_redisson() const override {
        return as_redisson_has_it("sentinel", addresses_of(watchers_));
    }

    void restore() override { watchers_.restore(); }
    support::redis_server& primary() override { return watchers_.primary(); }
    std::vector<support::redis_server*> replicas() override {
        return {&watchers_.replica(0), &watchers_.replica(1)};
    }
    bool is_kept_by_primary(const std::string&) const override { return true; }
    std::string_view telling() const override { return "PUBLISH"; }
    std::string_view counting_listeners() const override { return "NUMSUB"; }

private:
    void order() override {
        support::require_answer(watchers_.sentinel(0), {"SENTINEL", "FAILOVER", watchers_.service});
    }

    support::redis_sentinels& watchers_;
};

} // namespace

void realm::fail(fault how) {
    if (how == fault::order)
        order();
    else if (how == fault::stop)
        primary().pause();
    else
        primary().stop();
}

std::unique_ptr<realm> cluster_realm(server_groups& all) {
    return std::make_unique<cluster>(all.cluster(3, 1));
}

std::unique_ptr<realm> sentinel_realm(server_groups& all) {
    return std::make_unique<sentinels>(all.sentinels());
}

} // namespace holdfast::bench
