// SPDX-License-Identifier: Apache-2.0
// Runs the scripts of locks on a real server, called as src/store/redis does.
#pragma once

#include "store/redis/names.hpp"
#include "store/redis/scripts.hpp"
#include "support/on_each_server.hpp"
#include "support/redis_connection.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

namespace holdfast {

using numbers = std::vector<std::int64_t>;

/// The scripts of a lock, called as src/store/redis does.
class on_scripts : public support::on_each_server {
protected:
    using support::on_each_server::on_each_server;

    static constexpr const char* alice = "aaaaaaaa-0000-4000-8000-000000000001:1";
    static constexpr const char* bob = "bbbbbbbb-0000-4000-8000-000000000002:2";

    redis::reply lock(const std::string& owner, std::int64_t lease, std::int64_t deadline = 0) {
        return run(redis::scripts::lock_mutex, {name_},
                   {std::to_string(lease), owner, std::to_string(deadline)});
    }

    /// Arguments of an attempt to take a fenced lock.
    struct options {
        std::int64_t lease = 30'000;
        std::int64_t deadline = 0;
        int tokens = 1;
        bool dated = false;
    };
    redis::reply fence(const std::string& owner, options how) {
        return run(redis::scripts::lock_fenced, {name_, tokens_},
                   {std::to_string(how.lease), owner, std::to_string(how.deadline),
                    std::to_string(how.tokens), how.dated ? "1" : "0"});
    }
    redis::reply fence(const std::string& owner) { return fence(owner, {}); }
    redis::reply last_token() { return run(redis::scripts::last_token, {tokens_}, {}); }

    redis::reply release(const std::string& owner) {
        return run(redis::scripts::release_mutex, {name_}, {owner, channel_, "PUBLISH"});
    }
    redis::reply renew(std::vector<std::string> names, std::int64_t lease,
                       std::vector<std::string> owners) {
        owners.insert(owners.begin(), {std::to_string(lease), ""});
        return run(redis::scripts::renew_leases, std::move(names), std::move(owners));
    }
    redis::reply force(std::int64_t deadline = 0, const std::string& only_from = {}) {
        return run(redis::scripts::force_lock, {name_},
                   {std::to_string(deadline), only_from, "PUBLISH", channel_,
                    redis::with_prefix("redisson_rwlock", name_),
                    redis::with_prefix("redisson_lock_queue", name_),
                    redis::with_prefix("redisson_lock_timeout", name_)});
    }
    redis::reply inspect() { return run(redis::scripts::inspect_lock, {name_}, {"{L}"}); }

    virtual redis::reply run(const redis::script& what, std::vector<std::string> keys,
                             std::vector<std::string> arguments) {
        return support::run_script(server(), what, std::move(keys), std::move(arguments));
    }

    std::int64_t ask(const std::vector<std::string>& words) {
        return server().command(words).integer;
    }
    bool exists() { return ask({"EXISTS", name_}) == 1; }
    std::int64_t time_left() { return ask({"PTTL", name_}); }
    /// How often the server's data was changed, by its own count: what replicas are sent.
    std::int64_t changes() {
        const std::string all = server().command({"INFO", "persistence"}).text;
        constexpr std::string_view field = "rdb_changes_since_last_save:";
        return std::stoll(all.substr(all.find(field) + field.size()));
    }
    std::string count_of(const std::string& owner) {
        return server().command({"HGET", name_, owner}).text;
    }
    std::int64_t server_micros() {
        const redis::reply now = server().command({"TIME"});
        return std::stoll(now.items[0].text) * 1'000'000 + std::stoll(now.items[1].text);
    }

    std::string name_ = "L";
    std::string channel_ = "redisson_lock__channel:{L}";
    std::string tokens_ = "redisson_lock_token:{L}";
};

inline bool is_error(const redis::reply& answer, const std::string& code) {
    return answer.type == redis::reply::kind::error && answer.text.find(code) != std::string::npos;
}

/// The scripts as a user who lacks something calls them.
class on_limited_scripts : public on_scripts {
protected:
    using on_scripts::on_scripts;

    /// From now on, as a user with every right but the one for `command`.
    void deny(const std::string& command) { become({"~*", "&*", "+@all", "-" + command}); }

    /// From now on, as a user with these rights.
    void become(const std::vector<std::string>& rules) {
        std::vector<std::string> words{"ACL", "SETUSER", "limited", "reset", "on", "nopass"};
        words.insert(words.end(), rules.begin(), rules.end());
        ASSERT_EQ(server().command(words).text, "OK");
        limited_.emplace(server().socket_path());
        limited_->command({"AUTH", "limited", "any"});
    }

    /// From now on, as who may do everything.
    void allow_all() { limited_.reset(); }

    redis::reply run(const redis::script& what, std::vector<std::string> keys,
                     std::vector<std::string> arguments) override {
        return limited_
                   ? support::run_script(*limited_, what, std::move(keys), std::move(arguments))
                   : on_scripts::run(what, std::move(keys), std::move(arguments));
    }

    std::optional<support::redis_connection> limited_;
};

/// The scripts of a fair lock, called as src/store/redis does. A place of holdfast lasts 20 s, and
/// a place of a JVM 300 s.
class on_fair_scripts : public on_limited_scripts {
protected:
    using on_limited_scripts::on_limited_scripts;

    enum { busy = 0, granted = 1, late = 2 };

    struct wish {
        std::int64_t lease = 30'000;
        std::int64_t deadline = 0;
        bool waits = true;
    };

    static std::string ours(int number) {
        return "aaaaaaaa-0000-8fd5-8000-000000000001:" + std::to_string(number);
    }
    static std::string jvm(int number) {
        return "bbbbbbbb-0000-4000-8000-000000000002:" + std::to_string(number);
    }

    redis::reply ask_fair(const std::string& owner) { return ask_fair(owner, {}); }
    redis::reply ask_fair(const std::string& owner, wish how) {
        return run(redis::scripts::lock_fair, {name_, queue_, deadlines_},
                   {std::to_string(how.lease), owner, std::to_string(how.deadline), channel_,
                    "PUBLISH", how.waits ? "1" : "0", "20000", "300000"});
    }
    redis::reply release_fair(const std::string& owner) {
        return run(redis::scripts::release_fair, {name_, queue_, deadlines_},
                   {owner, channel_, "PUBLISH", "300000"});
    }
    static std::int64_t said(const redis::reply& answer) {
        return support::integers_of(answer).at(0);
    }

    std::int64_t server_ms() { return server_micros() / 1000; }

    /// Behind all others, and counts for so many ms from now on; without: for ever not.
    void stands_in_queue(const std::string& owner, std::optional<std::int64_t> lasts) {
        server().command({"RPUSH", queue_, owner});
        if (lasts)
            server().command({"ZADD", deadlines_, std::to_string(server_ms() + *lasts), owner});
    }
    std::vector<std::string> queue() {
        std::vector<std::string> all;
        for (const redis::reply& each : server().command({"LRANGE", queue_, "0", "-1"}).items)
            all.push_back(each.text);
        return all;
    }
    std::vector<std::string> keys() {
        std::vector<std::string> all;
        for (const redis::reply& each : server().command({"KEYS", "*"}).items)
            all.push_back(each.text);
        return all;
    }
    /// ms from now on.
    double place_lasts(const std::string& owner) {
        return std::stod(server().command({"ZSCORE", deadlines_, owner}).text) -
               static_cast<double>(server_ms());
    }

    /// Who is told meanwhile, in order; "" if all are that wait for a plain lock.
    template <typename Work>
    std::vector<std::string> told_by(Work work) {
        support::redis_connection listener{server().socket_path()};
        listener.command({"PSUBSCRIBE", "*"});
        work();
        server().command({"PUBLISH", "end", ""});
        std::vector<std::string> all;
        while (const auto message = listener.next_message(duration{5'000})) {
            const std::string& channel = message->items[2].text;
            if (channel == "end")
                break;
            all.push_back(channel == channel_ ? "" : channel.substr(channel_.size() + 1));
            EXPECT_EQ(message->items[3].text, "0");
        }
        return all;
    }

    std::string queue_ = "redisson_lock_queue:{L}";
    std::string deadlines_ = "redisson_lock_timeout:{L}";
};

} // namespace holdfast
