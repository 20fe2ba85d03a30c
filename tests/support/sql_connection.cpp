// SPDX-License-Identifier: Apache-2.0
#include "support/sql_connection.hpp"

#include <mutex>

#include <mysql.h>
#include <signal.h>

namespace holdfast::support {
namespace {

/// Initialises the client library once. The library makes the process ignore SIGPIPE. This function
/// restores the setting, because tests check that holdfast does not change it.
void begin_once() {
    static std::once_flag once;
    std::call_once(once, [] {
        struct sigaction before {};
        sigaction(SIGPIPE, nullptr, &before);
        mysql_server_init(0, nullptr, nullptr);
        sigaction(SIGPIPE, &before, nullptr);
    });
}

struct frees_result {
    void operator()(MYSQL_RES* result) const noexcept { mysql_free_result(result); }
};

} // namespace

void sql_connection::closes::operator()(MYSQL* handle) const noexcept {
    mysql_close(handle);
}

sql_connection::sql_connection(const std::filesystem::path& socket, const login& who) {
    begin_once();
    handle_.reset(mysql_init(nullptr));
    const unsigned protocol = MYSQL_PROTOCOL_SOCKET;
    mysql_optionsv(handle_.get(), MYSQL_OPT_PROTOCOL, &protocol);
    const unsigned long flags = who.counts_matched_rows ? CLIENT_FOUND_ROWS : 0;
    if (mysql_real_connect(handle_.get(), nullptr, who.user.c_str(), who.password.c_str(),
                           who.schema.empty() ? nullptr : who.schema.c_str(), 0, socket.c_str(),
                           flags) == nullptr)
        throw sql_error{mysql_errno(handle_.get()), mysql_error(handle_.get())};
}

sql_connection::rows sql_connection::run(const std::string& statement) {
    MYSQL* const on = handle_.get();
    if (mysql_real_query(on, statement.data(), statement.size()) != 0)
        throw sql_error{mysql_errno(on), mysql_error(on)};
    const std::unique_ptr<MYSQL_RES, frees_result> result{mysql_store_result(on)};
    if (mysql_errno(on) != 0) // a SELECT may fail after some rows
        throw sql_error{mysql_errno(on), mysql_error(on)};
    rows all;
    while (result != nullptr) {
        MYSQL_ROW const next = mysql_fetch_row(result.get());
        if (next == nullptr)
            break;
        const unsigned long* const sizes = mysql_fetch_lengths(result.get());
        row& made = all.emplace_back(mysql_num_fields(result.get()));
        for (std::size_t i = 0; i < made.size(); ++i)
            if (next[i] != nullptr)
                made[i].emplace(next[i], sizes[i]);
    }
    return all;
}

std::string sql_connection::value(const std::string& statement) {
    const rows all = run(statement);
    return all.empty() ? std::string{} : all.front().at(0).value_or("");
}

std::uint64_t sql_connection::changed() const {
    return mysql_affected_rows(handle_.get());
}
std::uint64_t sql_connection::insert_id() const {
    return mysql_insert_id(handle_.get());
}
std::uint64_t sql_connection::id() const {
    return mysql_thread_id(handle_.get());
}

} // namespace holdfast::support
