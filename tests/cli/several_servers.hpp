// SPDX-License-Identifier: Apache-2.0
// The program at a cluster, and behind Sentinels: one of each for all tests of a process, since they
// take seconds to make.
#pragma once

#include "cli/program.hpp"
#include "support/on_each_server.hpp"
#include "support/redis_cluster.hpp"
#include "support/redis_sentinels.hpp"

#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::cli_test {

inline std::string listed_addresses(const std::vector<redis::server_address>& all) {
    std::string list;
    for (const redis::server_address& each : all)
        list += (list.empty() ? "" : ",") + each.host + ":" + std::to_string(each.port);
    return list;
}

inline std::string url_of(support::redis_cluster& all) {
    return "redis+cluster://" + listed_addresses(all.client_options().cluster->addresses);
}
inline std::string url_of(support::redis_sentinels& all) {
    return "redis+sentinel://" + listed_addresses(all.client_options().sentinel->addresses) + "/" +
           support::redis_sentinels::service;
}

/// What the tests do with either of them.
class deployment {
public:
    virtual ~deployment() = default;
    virtual std::string url() = 0;
    virtual void restore() = 0;
    virtual support::redis_server& keeper_of(const std::string& name) = 0;
    virtual void replace_keeper_of(const std::string& name) = 0;
};

class cluster_deployment final : public deployment {
public:
    std::string url() override { return url_of(all); }
    void restore() override { all.restore(); }
    support::redis_server& keeper_of(const std::string& name) override { return all.node_of(name); }
    void replace_keeper_of(const std::string& name) override {
        all.failover(all.replica_of(all.node_of(name)));
    }
    support::redis_cluster all{};
};

class sentinel_deployment final : public deployment {
public:
    std::string url() override { return url_of(all); }
    void restore() override { all.restore(); }
    support::redis_server& keeper_of(const std::string&) override { return all.primary(); }
    void replace_keeper_of(const std::string&) override { all.failover(); }
    support::redis_sentinels all{};
};

template <typename Deployment>
Deployment& the_only() {
    static const auto one = std::make_unique<Deployment>();
    one->restore();
    return *one;
}

enum class deployed { cluster, sentinels };

inline void PrintTo(deployed which, std::ostream* out) {
    *out << (which == deployed::cluster ? "cluster" : "sentinels");
}

class on_several_servers : public ::testing::TestWithParam<deployed> {
protected:
    void SetUp() override {
        support::make_or_skip([this] {
            if (GetParam() == deployed::cluster)
                servers_ = &the_only<cluster_deployment>();
            else
                servers_ = &the_only<sentinel_deployment>();
        });
    }

    bool is_cluster() const { return GetParam() == deployed::cluster; }
    deployment& servers() { return *servers_; }
    std::string url() { return servers_->url(); }
    bool is_locked(const std::string& name = "job") {
        return servers_->keeper_of(name).command({"EXISTS", name}).integer == 1;
    }
    static std::vector<std::string> until_closed(std::vector<std::string> options = {}) {
        options.insert(options.begin(), "run");
        for (const char* word : {"job", "--", "sh", "-c", "echo held; read nothing; echo done"})
            options.emplace_back(word);
        return options;
    }

private:
    deployment* servers_ = nullptr;
};

} // namespace holdfast::cli_test
