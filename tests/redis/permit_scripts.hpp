// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "counter_scripts.hpp"
#include "redis/client/error_replies.hpp"
#include "store/redis/names.hpp"

#include <string>
#include <utility>
#include <vector>

namespace holdfast {

/// The scripts of permits that are leased, called as src/store/redis does.
class on_permit_scripts : public on_counter_scripts {
protected:
    using on_counter_scripts::on_counter_scripts;

    /// Those of so many numbers from the first on.
    struct some {
        int first = 1;
        int count = 1;
    };

    redis::reply take(some which, std::int64_t lease = 30'000, std::int64_t deadline = 0) {
        return run(redis::scripts::take_permits, {name_, held_},
                   {std::to_string(lease), std::to_string(which.first), std::to_string(which.count),
                    prefix(), std::to_string(deadline), told_on_, "PUBLISH"});
    }
    redis::reply release(some which) {
        return run(redis::scripts::release_permits, {name_, held_},
                   {std::to_string(which.first), std::to_string(which.count), prefix(), told_on_,
                    "PUBLISH"});
    }
    redis::reply renew(std::vector<some> all, std::int64_t lease = 30'000) {
        std::vector<std::string> arguments{std::to_string(lease), prefix()};
        for (const some each : all)
            arguments.push_back(std::to_string(each.first) + " " + std::to_string(each.count));
        return run(redis::scripts::renew_permits, std::vector<std::string>(all.size(), held_),
                   std::move(arguments));
    }
    redis::reply change(const std::string& verb, std::int64_t amount, once as,
                        const std::string& permit = {}) {
        return run(redis::scripts::change_permits, {name_, held_, requests_},
                   {verb, std::to_string(amount), permit, std::to_string(as.slot),
                    std::to_string(as.number), std::to_string(as.deadline), memory_, told_on_,
                    "PUBLISH"});
    }
    redis::reply inspect() {
        return run(redis::scripts::inspect_permits, {name_, held_}, {told_on_});
    }

    std::int64_t said(const redis::reply& answer) { return support::integers_of(answer).at(0); }
    std::int64_t left(const redis::reply& answer) { return support::integers_of(answer).at(1); }
    std::int64_t counted(const redis::reply& answer) { return support::integers_of(answer).at(2); }

    std::string prefix() const { return redis::permit_prefix(client_, form_); }
    std::string permit(std::uint64_t number) const {
        return redis::stored_permit(permit_id({client_.client, number}), form_);
    }
    /// In ms from now; 0: it is not there.
    std::int64_t lasts(std::uint64_t number) {
        const redis::reply score = server().command({"ZSCORE", held_, permit(number)});
        return score.type == redis::reply::kind::text
                   ? std::stoll(score.text) - server_micros() / 1000
                   : 0;
    }
    /// Another's, which ends so long from now.
    void others_hold(const std::string& id, std::int64_t lease) {
        server().command({"ZADD", held_, std::to_string(server_micros() / 1000 + lease), id});
    }
    std::int64_t held_count() { return ask({"ZCARD", held_}); }

    redis::redisson_form form_ = redis::redisson_form::v3_17;
    const owner_id client_{{0, 1, 2, 3, 4, 5, 0x8f, 0xd5, 0x80, 0xff}, 0};
    const std::string held_ = "{L}:timeout";
    const std::string told_on_ = "redisson_sc:{L}";
    const std::string other_ = "0123456789abcdef";
};

} // namespace holdfast
