// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/redis/names.hpp"
#include "store/redis/scripts.hpp"
#include "support/on_each_server.hpp"
#include "support/run_script.hpp"

#include <cstdint>
#include <string>
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

    /// What an attempt at a fenced lock asks for.
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
    redis::reply inspect() { return run(redis::scripts::inspect_lock, {name_}, {}); }

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

} // namespace holdfast
