// SPDX-License-Identifier: Apache-2.0
#include "conformance/store_under_test.hpp"
#include "store/zookeeper/nodes.hpp"
#include "support/stream_proxy.hpp"
#include "support/zookeeper_server.hpp"

#include <holdfast/zookeeper/options.hpp>

#include <map>
#include <memory>
#include <optional>
#include <utility>

namespace holdfast::conformance {
namespace {

using zookeeper::node_mode;

/// A Curator client's own spelling of itself.
constexpr const char* curator_node = "_c_8743c9c0-0795-4907-87fd-6c719a6b4586";

/// A JVM takes a second to start, so one server serves all tests, each below a path of its own.
support::zookeeper_server& shared_zookeeper() {
    static support::zookeeper_server one{support::zookeepers().front(), {}};
    if (!one.serves())
        one.restart_empty();
    return one;
}

class zookeeper_under_test final : public store_under_test {
public:
    zookeeper_under_test()
        : server_{shared_zookeeper()}
        , chroot_{"/test" + std::to_string(++count_)} {
        begin();
    }

    void reach(options& how) override {
        zookeeper::options at;
        at.servers = {{"127.0.0.1", server_.port()}};
        at.chroot = chroot_;
        how.store = zookeeper::make_store(std::move(at));
    }
    void reach_badly(options& how) override {
        if (!wire_)
            wire_.emplace((folder_.folder() / "wire").string(), server_.port());
        zookeeper::options at;
        at.servers = {{wire_->socket_path(), 1}};
        at.chroot = chroot_;
        at.command_timeout = bad_way_timeout;
        how.store = zookeeper::make_store(std::move(at));
    }
    void lose_answer_about(const std::string& name) override {
        wire_->lose_answer_to("/" + name + "/");
    }
    void pass(duration by) override {
        for (auto& [name, left] : leases_)
            if ((left -= by) <= duration::zero())
                erase_ours(name);
        std::erase_if(leases_, [](const auto& each) { return each.second <= duration::zero(); });
    }
    void restart_empty() override {
        hand_.reset();
        server_.restart_empty();
        begin();
    }
    void stop_answering() override { server_.stop(); }
    void freeze() override { server_.pause(); }
    void thaw() override { server_.resume(); }
    void evict(const std::string& name) override {
        for (const std::string& each : children(name))
            hand_->remove(path_of(name) + '/' + each);
    }
    void stranger_takes(const std::string& name, duration lease) override {
        evict(name);
        enter(name, "-lock-");
        leases_[name] = lease;
    }
    void stranger_sets_token(const std::string&, std::optional<duration>) override {}
    void stranger_releases(const std::string& name) override { erase_ours(name); }
    void stranger_queues(const std::string& name) override { enter(name, "-lock-"); }
    void stranger_shares(const std::string& name, lock_kind side, duration lease) override {
        if (side == lock_kind::write)
            evict(name);
        enter(name, side == lock_kind::write ? "-__WRIT__" : "-__READ__");
        leases_[name] = lease;
    }
    void stranger_adds(const std::string&, std::int64_t) override {}
    void stranger_takes_permit(const std::string& name, duration) override {
        enter(name + "/leases", "-lease-");
    }
    void stranger_counts_down(const std::string&) override {}
    std::optional<std::int64_t> counter(const std::string&) override { return std::nullopt; }

    bool leases_by_session() const override { return true; }
    bool counts_listeners() const override { return false; }
    bool moves_its_clock() const override { return false; }
    bool counts_tokens() const override { return false; }
    bool has_wishes() const override { return false; }
    bool counts_requests() const override { return false; }
    bool changes_permits() const override { return false; }
    std::size_t name_bytes_max() const override { return zookeeper::paths::bytes_max; }

    std::size_t held() override {
        std::size_t count = 0;
        for (const std::string& each : names())
            count += contenders(each) > 0 ? 1 : 0;
        return count;
    }
    std::size_t waiting(const std::string& name) override {
        const std::vector<std::string> all = children(name);
        const auto in_order = zookeeper::contenders_in(all);
        return in_order.size() - zookeeper::holders_among(in_order).size();
    }
    std::size_t listeners() override {
        std::size_t count = 0;
        for (const std::string& each : names())
            count += waiting(each) + contenders(each + "/locks");
        return count;
    }
    std::size_t requests() override { return 0; }
    bool put_something_else(const std::string&) override { return false; }

private:
    void begin() {
        hand_.emplace(server_.port());
        hand_->make(chroot_, node_mode::persistent);
    }
    std::string root() const { return chroot_ + "/holdfast"; }
    std::string path_of(const std::string& name) const { return root() + '/' + name; }
    std::vector<std::string> children(const std::string& name) {
        return hand_->list(path_of(name)).value_or(std::vector<std::string>{});
    }
    std::vector<std::string> names() {
        return hand_->list(root()).value_or(std::vector<std::string>{});
    }
    std::size_t contenders(const std::string& name) {
        const std::vector<std::string> all = children(name);
        return zookeeper::contenders_in(all).size();
    }
    void enter(const std::string& name, const std::string& mark) {
        hand_->make(path_of(name) + '/' + curator_node + mark, node_mode::ephemeral_sequential);
    }
    void erase_ours(const std::string& name) {
        for (const std::string& each : children(name))
            if (each.starts_with(curator_node))
                hand_->remove(path_of(name) + '/' + each);
    }

    static inline int count_ = 0;

    support::zookeeper_server& server_;
    const std::string chroot_;
    std::optional<support::zookeeper_hand> hand_;
    support::server_process folder_; ///< it starts nothing
    std::optional<support::stream_proxy> wire_;
    std::map<std::string, duration> leases_; ///< of strangers
};

} // namespace

std::vector<store_kind> zookeeper_servers() {
    store_kind one{"zookeeper", [] { return std::make_unique<zookeeper_under_test>(); }};
    one.without = {lock_kind::spin, lock_kind::token};
    one.uncounted = {counter_kind::semaphore, counter_kind::latch, counter_kind::rate};
    return {std::move(one)};
}

} // namespace holdfast::conformance
