// SPDX-License-Identifier: Apache-2.0
#include "store/mysql/two_writes.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace holdfast::mysql {
namespace {

/// Sets a short timeout for a client that sends nothing while its transaction is open.
std::string short_idle_time(bool is_mariadb) {
    return is_mariadb ? "SET SESSION idle_transaction_timeout=3" : "SET SESSION wait_timeout=3";
}

std::string usual_idle_time(bool is_mariadb, duration idle_limit) {
    constexpr std::int64_t least = 60;
    const auto idle = std::chrono::ceil<std::chrono::seconds>(idle_limit).count();
    return is_mariadb
               ? "SET SESSION idle_transaction_timeout=0"
               : "SET SESSION wait_timeout=" + std::to_string(std::max<std::int64_t>(idle, least));
}

} // namespace

two_writes::two_writes(site& at, call_wishes wishes)
    : at_{at}
    , wishes_{std::move(wishes)} {}

asio::awaitable<answers> two_writes::begin(std::vector<std::string> reading) {
    constexpr std::size_t before = 2; // number of statements before `reading`
    const auto make = [&](const runtime::remote_clock&, const server_facts& facts) {
        is_mariadb_ = facts.is_mariadb;
        idle_limit_ = facts.idle_limit;
        std::vector<std::string> all{short_idle_time(is_mariadb_), "START TRANSACTION"};
        all.insert(all.end(), reading.begin(), reading.end());
        return all;
    };
    composing text{make};
    call_wishes wishes = wishes_;
    wishes.leaves_open = true;
    answers said = co_await at_.server.run(text, wishes);
    (void)answer_at(said, before);
    said.of.erase(said.of.begin(), said.of.begin() + before);
    on_ = said.by;
    co_return said;
}

asio::awaitable<answers> two_writes::end(maker writing) {
    const auto make = [&](const runtime::remote_clock& clock, const server_facts&) {
        std::vector<std::string> all = writing(clock);
        all.emplace_back("COMMIT");
        all.push_back(usual_idle_time(is_mariadb_, idle_limit_));
        return all;
    };
    composing text{make};
    call_wishes wishes = wishes_;
    wishes.on = on_;
    co_return co_await at_.server.run(text, wishes);
}

} // namespace holdfast::mysql
