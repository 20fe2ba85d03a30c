// SPDX-License-Identifier: Apache-2.0
#include "conformance/store_under_test.hpp"
#include "support/cut_wire.hpp"
#include "support/redis_server.hpp"

#include <optional>

namespace holdfast::conformance {
namespace {

/// A Redisson client's own spelling of itself: version 4, thread 1.
constexpr const char* stranger = "8743c9c0-0795-4907-87fd-6c719a6b4586:1";

class redis_under_test final : public store_under_test {
public:
    explicit redis_under_test(const support::server_binary& which)
        : server_{which, {.own_clock = true}} {}

    void reach(options& how) override { how.store = store_at(server_.socket_path(), {}); }
    void reach_badly(options& how) override {
        if (!wire_)
            wire_.emplace(server_.socket_path());
        how.store = store_at(wire_->socket_path(), bad_way_timeout);
    }
    void lose_answer_about(const std::string& name) override { wire_->lose_answer_to(name); }
    void pass(duration by) override { server_.step_clock(by); }
    void restart_empty() override { server_.restart_empty(); }
    void stop_answering() override { server_.stop(); }
    void freeze() override { server_.pause(); }
    void thaw() override { server_.resume(); }
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
    std::size_t requests() override {
        const std::string all = server_.command({"INFO", "commandstats"}).text;
        return calls_of("eval", all) + calls_of("evalsha", all);
    }
    bool put_something_else(const std::string& name) override {
        server_.command({"SET", name, "x"});
        return true;
    }

private:
    static store_factory store_at(const std::string& socket,
                                  std::optional<duration> command_timeout) {
        // Nothing lingers, so that what is left behind shows at once.
        redis::options server;
        server.unix_socket = socket;
        server.command_timeout = command_timeout.value_or(server.command_timeout);
        server.subscription_linger = duration{1};
        return redis::make_store(server);
    }

    /// Of a line such as `cmdstat_evalsha:calls=12,…,failed_calls=1`. Those that failed only told
    /// the client that the server does not know a script yet.
    static std::size_t calls_of(const std::string& command, const std::string& all) {
        const std::size_t line = all.find("cmdstat_" + command + ":calls=");
        return line == all.npos
                   ? 0
                   : number_behind("calls=", all, line) - number_behind("failed_calls=", all, line);
    }
    static std::size_t number_behind(const std::string& key, const std::string& all,
                                     std::size_t from) {
        return std::stoul(all.substr(all.find(key, from) + key.size()));
    }

    support::redis_server server_;
    std::optional<support::cut_wire> wire_;
};

} // namespace

std::vector<store_kind> redis_servers() {
    std::vector<store_kind> all;
    for (const support::server_binary& each : support::servers())
        all.push_back({each.label, [each] { return std::make_unique<redis_under_test>(each); }});
    return all;
}

} // namespace holdfast::conformance
