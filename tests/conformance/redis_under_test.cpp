// SPDX-License-Identifier: Apache-2.0
#include "conformance/store_under_test.hpp"
#include "support/eventually.hpp"
#include "support/redis_server.hpp"
#include "support/source_tree.hpp"
#include "support/stream_proxy.hpp"
#include "support/tls.hpp"

#include <algorithm>
#include <optional>

namespace holdfast::conformance {
namespace {

/// A Redisson client's own spelling of itself: version 4, thread 1.
constexpr const char* stranger = "8743c9c0-0795-4907-87fd-6c719a6b4586:1";

/// Another holdfast client, for kinds of locks that Redisson does not have.
constexpr const char* another_owner = "8743c9c0-0795-8fd5-87fd-6c719a6b4586:1";

class redis_under_test : public store_under_test {
public:
    explicit redis_under_test(const support::server_binary& which)
        : redis_under_test{which, {.own_clock = true}} {}

    void reach(options& how) override {
        how.store = store_at(server_.socket_path(), {});
        be_counted(how);
    }
    void reach_badly(options& how) override {
        be_counted(how);
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
        if (keeps_tokens())
            server_.command({"SET", name, another_owner});
        else
            server_.command({"HSET", name, stranger, "1"});
        server_.command({"PEXPIRE", name, std::to_string(lease.count())});
    }
    void stranger_sets_token(const std::string& name, std::optional<duration> lease) override {
        std::vector<std::string> words{"SET", name, "6fdc9f0e70e311eeb9620242ac120002"};
        if (lease)
            words.insert(words.end(), {"PX", std::to_string(lease->count())});
        server_.command({"DEL", name});
        server_.command(words);
    }
    void stranger_releases(const std::string& name) override {
        server_.command({"DEL", name});
        const std::string channel = "redisson_lock__channel:{" + name + "}";
        server_.command({tells_by(), channel, "0"});
        server_.command({tells_by(), "redisson_rwlock:{" + name + "}", "0"});
        server_.command({tells_by(), "holdfast_token_lock:{" + name + "}", "0"});
        const redis::reply next = server_.command({"LINDEX", queue_of(name), "0"});
        server_.command({tells_by(), channel + ":" + next.text, "0"}); // if it was a fair lock
    }
    void stranger_queues(const std::string& name) override {
        const std::int64_t now = std::stoll(server_.command({"TIME"}).items[0].text) * 1000;
        server_.command({"RPUSH", queue_of(name), stranger});
        server_.command({"ZADD", "redisson_lock_timeout:{" + name + "}",
                         std::to_string(now + 300'000), stranger});
    }
    std::size_t waiting(const std::string& name) override {
        return static_cast<std::size_t>(server_.command({"LLEN", queue_of(name)}).integer);
    }
    void stranger_shares(const std::string& name, lock_kind side, duration lease) override {
        const std::string left = std::to_string(lease.count()), who = stranger;
        if (side == lock_kind::write) {
            server_.command({"DEL", name});
            server_.command({"HSET", name, "mode", "write", who + ":write", "1"});
        } else {
            server_.command({"HSET", name, "mode", "read", who, "1"});
            server_.command(
                {"SET", "{" + name + "}:" + who + ":rwlock_timeout:1", "1", "PX", left});
        }
        server_.command({"PEXPIRE", name, left});
    }
    void stranger_adds(const std::string& name, std::int64_t permits) override {
        const std::int64_t now = server_.command({"INCRBY", name, std::to_string(permits)}).integer;
        server_.command({tells_by(), "redisson_sc:{" + name + "}", std::to_string(now)});
    }
    void stranger_takes_permit(const std::string& name, duration lease) override {
        const redis::reply now = server_.command({"TIME"});
        const std::int64_t ms =
            std::stoll(now.items[0].text) * 1000 + std::stoll(now.items[1].text) / 1000;
        server_.command({"DECR", name});
        server_.command({"ZADD", "{" + name + "}:timeout", std::to_string(ms + lease.count()),
                         "0123456789abcdef"});
    }
    void stranger_counts_down(const std::string& name) override {
        const std::int64_t now = server_.command({"DECR", name}).integer;
        if (now <= 0)
            server_.command({"DEL", name});
        if (now == 0)
            server_.command({tells_by(), "redisson_countdownlatch__channel__{" + name + "}", "0"});
    }
    std::optional<std::int64_t> counter(const std::string& name) override {
        const redis::reply value = server_.command({"GET", name});
        if (value.type != redis::reply::kind::text)
            return std::nullopt;
        return std::stoll(value.text);
    }
    std::size_t held() override { return support::lock_keys(server_).size(); }
    std::size_t listeners() override {
        const redis::reply all = server_.command({"PUBSUB", lists_by()});
        return static_cast<std::size_t>(std::ranges::count_if(
            all.items, [](const redis::reply& each) { return !is_sentinels(each.text); }));
    }
    std::size_t requests() override {
        const std::string all = server_.command({"INFO", "commandstats"}).text;
        // Each script but one asks about locks. That one says who a client is, and alone sets keys,
        // or is not used. A client sends each script by its digest first. EVAL follows if the
        // server does not know the script; any other EVAL tests whether the server still answers.
        const std::size_t not_about_locks = keeps_tokens() ? 0 : calls_of("set", all);
        const std::size_t with_text = std::min(calls_of("eval", all), failed_of("evalsha", all));
        return calls_of("evalsha", all) + with_text - not_about_locks;
    }
    bool put_something_else(const std::string& name) override {
        server_.command({"RPUSH", name, "x"});
        return true;
    }

protected:
    redis_under_test(const support::server_binary& which, support::redis_server::options how)
        : server_{which, std::move(how)} {}

    support::redis_server& server() { return server_; }

    virtual redis::options leading_to(const std::string& socket) {
        redis::options how;
        how.unix_socket = socket;
        return how;
    }
    virtual std::string tells_by() const { return "PUBLISH"; }
    virtual std::string lists_by() const { return "CHANNELS"; }

    /// For `requests`: where locks are set as clients' descriptions are, there are none of those.
    void be_counted(options& how) const { how.announce = how.announce && !keeps_tokens(); }

    /// Nothing lingers, so that what is left behind shows at once.
    static constexpr duration hardly{1};

private:
    /// A Sentinel hears there of other Sentinels.
    static bool is_sentinels(const std::string& channel) { return channel == "__sentinel__:hello"; }
    static std::string queue_of(const std::string& name) {
        return "redisson_lock_queue:{" + name + "}";
    }
    store_factory store_at(const std::string& socket, std::optional<duration> command_timeout) {
        redis::options server = leading_to(socket);
        server.command_timeout = command_timeout.value_or(server.command_timeout);
        server.subscription_linger = hardly;
        return redis::make_store(server);
    }

    /// Returns the number of calls that succeeded, from a line such as
    /// `cmdstat_evalsha:calls=12,…,failed_calls=1`.
    static std::size_t calls_of(const std::string& command, const std::string& all) {
        return number_of(command, "calls=", all) - failed_of(command, all);
    }
    static std::size_t failed_of(const std::string& command, const std::string& all) {
        return number_of(command, "failed_calls=", all);
    }
    static std::size_t number_of(const std::string& command, const std::string& what,
                                 const std::string& all) {
        const std::size_t line = all.find("cmdstat_" + command + ":calls=");
        return line == all.npos ? 0 : number_behind(what, all, line);
    }
    static std::size_t number_behind(const std::string& key, const std::string& all,
                                     std::size_t from) {
        return std::stoul(all.substr(all.find(key, from) + key.size()));
    }

    support::redis_server server_;
    std::optional<support::stream_proxy> wire_;
};

struct with_certificate {
    support::authority authority_;
    support::identity own_ = authority_.issue("server");
};

/// The server is reached over TLS, except on the connections that lose replies.
class redis_over_tls final : with_certificate, public redis_under_test {
public:
    explicit redis_over_tls(const support::server_binary& which)
        : redis_under_test{which,
                           {.tls = true,
                            .own_clock = true,
                            .arguments = {"--tls-cert-file", own_.certificate_file,
                                          "--tls-key-file", own_.key_file, "--tls-ca-cert-file",
                                          authority_.file(), "--tls-auth-clients", "no"}}} {}

    void reach(options& how) override {
        redis::options secured;
        secured.port = server().tls_port();
        secured.tls = redis::tls_options{.ca_file = authority_.file()};
        secured.subscription_linger = hardly;
        how.store = redis::make_store(secured);
    }
};

/// The client logs in as a user with exactly the rights of docs/security/holdfast.acl, except on
/// the connections that lose replies.
class redis_with_least_rights final : public redis_under_test {
public:
    explicit redis_with_least_rights(const support::server_binary& which)
        : redis_under_test{which, {.own_clock = true, .arguments = user()}} {}

    void reach(options& how) override {
        redis::options restricted;
        restricted.unix_socket = server().socket_path();
        restricted.user = "app";
        restricted.password = "its";
        restricted.subscription_linger = hardly;
        how.store = redis::make_store(restricted);
        be_counted(how);
    }

private:
    static std::vector<std::string> user() {
        std::vector<std::string> words{"--user",    "app",           "on",   ">its",
                                       "resetkeys", "resetchannels", "-@all"};
        const std::vector<std::string> rules = support::rules_of_acl_file("");
        words.insert(words.end(), rules.begin(), rules.end());
        return words;
    }
};

/// Its releases grant a mutex to the next waiting client.
class redis_with_hand_off final : public redis_under_test {
public:
    using redis_under_test::redis_under_test;

    bool waiters_only_listen() const override { return false; } // they renew their entries

protected:
    redis::options leading_to(const std::string& socket) override {
        redis::options how = redis_under_test::leading_to(socket);
        how.direct_hand_off = true;
        return how;
    }
};

/// A cluster of one, that does not know where it is: so it is asked again where it was.
class redis_in_cluster final : public redis_under_test {
public:
    explicit redis_in_cluster(const support::server_binary& which)
        : redis_under_test{
              which,
              {.tcp = true,
               .cluster = true,
               .own_clock = true,
               .arguments = {"--cluster-preferred-endpoint-type", "unknown-endpoint"}}} {
        server().command({"CLUSTER", "ADDSLOTSRANGE", "0", "16383"});
        wait_until_ready();
    }

    void restart_empty() override {
        redis_under_test::restart_empty();
        wait_until_ready();
    }

protected:
    redis::options leading_to(const std::string& socket) override {
        redis::options how;
        how.cluster.emplace();
        how.cluster->addresses = {{socket, server().port()}};
        return how;
    }
    std::string tells_by() const override { return "SPUBLISH"; }
    std::string lists_by() const override { return "SHARDCHANNELS"; }
    duration place_lasts_at_most() const override { return std::chrono::seconds{60}; }

private:
    /// Which a primary is two seconds after its start, by its own clock.
    void wait_until_ready() {
        server().command({"GET", "any"});
        server().step_clock(std::chrono::seconds{3});
        support::until("the cluster is ready", [this] {
            const std::string told = server().command({"CLUSTER", "INFO"}).text;
            return told.find("cluster_state:ok") != told.npos;
        });
    }
};

/// Found by a Sentinel, but for the way on which answers are lost.
class redis_by_sentinel final : public redis_under_test {
public:
    explicit redis_by_sentinel(const support::server_binary& which)
        : redis_under_test{which, {.tcp = true, .own_clock = true}}
        , sentinel_{which,
                    {.tcp = true,
                     .sentinel = "sentinel monitor locks 127.0.0.1 " +
                                 std::to_string(server().port()) + " 1\n"}} {}

    duration place_lasts_at_most() const override { return std::chrono::seconds{60}; }
    void reach(options& how) override {
        redis::options found;
        found.sentinel.emplace();
        found.sentinel->service = "locks";
        found.sentinel->addresses = {{"127.0.0.1", sentinel_.port()}};
        found.subscription_linger = hardly;
        how.store = redis::make_store(found);
        be_counted(how);
    }

private:
    support::redis_server sentinel_;
};

template <typename Store>
store_kind kind_of(const std::string& label, const support::server_binary& which) {
    return {label, [which] { return std::make_unique<Store>(which); }};
}

} // namespace

std::vector<store_kind> redis_servers() {
    const std::vector<support::server_binary> servers = support::servers();
    std::vector<store_kind> all;
    for (const support::server_binary& each : servers)
        all.push_back(kind_of<redis_under_test>(each.label, each));
    // The scripts are the same, so one server will do.
    all.push_back(kind_of<redis_over_tls>(servers.front().label + "-tls", servers.front()));
    all.push_back(
        kind_of<redis_with_least_rights>(servers.front().label + "-acl", servers.front()));
    all.push_back(
        kind_of<redis_with_hand_off>(servers.front().label + "-hand-off", servers.front()));
    all.push_back(kind_of<redis_in_cluster>(servers.front().label + "-cluster", servers.front()));
    all.push_back(kind_of<redis_by_sentinel>(servers.back().label + "-sentinel", servers.back()));
    return all;
}

} // namespace holdfast::conformance
