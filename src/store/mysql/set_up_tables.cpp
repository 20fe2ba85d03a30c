// SPDX-License-Identifier: Apache-2.0
#include "store/mysql/examination.hpp"
#include "store/mysql/schema.hpp"

namespace holdfast::mysql {
namespace {

/// Of these, which are there already.
std::string tables_there(const site& at) {
    return "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema=DATABASE() AND "
           "table_name IN (" +
           hex(at.table) + "," + hex(at.table + "_hold") + "," + hex(at.table + "_counter") + "," +
           hex(at.table + "_request") + "," + hex(at.table + "_identity") + ")";
}

constexpr std::int64_t tables_in_all = 5;

} // namespace

asio::awaitable<std::vector<finding>> make_tables(site& at) {
    const auto look = [&](const runtime::remote_clock&, const server_facts&) {
        return std::vector<std::string>{tables_there(at)};
    };
    composing looking{look};
    const answers said = co_await at.server.run(looking);
    const std::int64_t there = number_at(answer_at(said, 0).rows.at(0), 0);
    // One by one: each is an end of a transaction by itself.
    for (std::string& each : making(at.named)) {
        const auto make = [&](const runtime::remote_clock&, const server_facts&) {
            return std::vector<std::string>{each};
        };
        composing text{make};
        co_await at.server.run(text);
    }
    std::vector<finding> told(1);
    told.front().topic = "tables";
    told.front().what = there == tables_in_all
                            ? "all tables of locks were there already (" + at.named.locks + ")"
                            : std::to_string(tables_in_all - there) +
                                  " tables of locks were made (" + at.named.locks +
                                  " and those "
                                  "that begin with its name)";
    co_return told;
}

} // namespace holdfast::mysql
