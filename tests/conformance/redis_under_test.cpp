// SPDX-License-Identifier: Apache-2.0
#include "conformance/store_under_test.hpp"
#include "support/redis_server.hpp"

namespace holdfast::conformance {
namespace {

/// A Redisson client's own spelling of itself: version 4, thread 1.
constexpr const char* stranger = "8743c9c0-0795-4907-87fd-6c719a6b4586:1";

class redis_under_test final : public store_under_test {
public:
    explicit redis_under_test(const support::server_binary& which)
        : server_{which, {.own_clock = true}} {}

    void reach(options& how) override {
        // Nothing lingers, so that what is left behind shows at once.
        redis::options server;
        server.unix_socket = server_.socket_path();
        server.subscription_linger = duration{1};
        how.store = redis::make_store(server);
    }
    void pass(duration by) override { server_.step_clock(by); }
    void restart_empty() override { server_.restart_empty(); }
    void stop_answering() override { server_.stop(); }
    void evict(const std::string& name) override { server_.command({"DEL", name}); }
    void stranger_takes(const std::string& name, duration lease) override {
        server_.command({"DEL", name});
        server_.command({"HSET", name, stranger, "1"});
        server_.command({"PEXPIRE", name, std::to_string(lease.count())});
    }
    void stranger_releases(const std::string& name) override {
        server_.command({"DEL", name});
        server_.command({"PUBLISH", "redisson_lock__channel:{" + name + "}", "0"});
    }
    std::size_t held() override {
        return static_cast<std::size_t>(server_.command({"DBSIZE"}).integer);
    }
    std::size_t listeners() override {
        return server_.command({"PUBSUB", "CHANNELS"}).items.size();
    }
    bool put_something_else(const std::string& name) override {
        server_.command({"SET", name, "x"});
        return true;
    }

private:
    support::redis_server server_;
};

} // namespace

std::vector<store_kind> redis_servers() {
    std::vector<store_kind> all;
    for (const support::server_binary& each : support::servers())
        all.push_back({each.label, [each] { return std::make_unique<redis_under_test>(each); }});
    return all;
}

} // namespace holdfast::conformance
