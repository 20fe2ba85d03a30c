// SPDX-License-Identifier: Apache-2.0
#include "net/failure.hpp"
#include "store/mysql/examination.hpp"
#include "store/mysql/schema.hpp"

#include <optional>

namespace holdfast::mysql {
namespace {

/// Returns a SELECT that counts how many of the tables exist already.
std::string tables_there(const site& at) {
    return "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema=DATABASE() AND "
           "table_name IN (" +
           hex(at.table) + "," + hex(at.table + "_hold") + "," + hex(at.table + "_counter") + "," +
           hex(at.table + "_request") + "," + hex(at.table + "_identity") + ")";
}

constexpr std::int64_t tables_in_all = 5;

asio::awaitable<answers> run_one(database& server, const std::string& statement) {
    const auto make = [&](const runtime::remote_clock&, const server_facts&) {
        return std::vector<std::string>{statement};
    };
    composing text{make};
    co_return co_await server.run(text);
}

/// Tries the last statement first. It needs more privileges than the other statements, and the
/// server checks them even if the table does not exist yet. Thus a user without all privileges
/// creates no table at all.
asio::awaitable<void> try_last(database& server, const std::string& statement) {
    try {
        co_await run_one(server, statement);
    } catch (const boost::system::system_error& why) {
        if (why.code() != store_errc::not_set_up)
            throw;
    }
}

asio::awaitable<std::vector<finding>> make_them(const site& at, database& server) {
    const std::string look = tables_there(at);
    const answers said = co_await run_one(server, look);
    const std::int64_t there = number_at(answer_at(said, 0).rows.at(0), 0);
    const std::vector<std::string> all = making(at.named);
    co_await try_last(server, all.back());
    // Sends the statements one by one, because each statement commits by itself.
    for (const std::string& each : all)
        co_await run_one(server, each);
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

} // namespace

asio::awaitable<std::vector<finding>> make_tables(const site& at, database& server) {
    std::optional<net::failure> refused;
    try {
        std::vector<finding> told = co_await make_them(at, server);
        co_return told;
    } catch (const boost::system::system_error& why) {
        if (why.code() != store_errc::no_permission)
            throw;
        refused.emplace(why.code(), net::story_of(why) +
                                        "; to make the tables of locks takes the rights CREATE, "
                                        "SELECT and INSERT in the schema " +
                                        at.schema);
    }
    throw net::failure{*refused};
}

} // namespace holdfast::mysql
