// SPDX-License-Identifier: Apache-2.0
#include "bench/database/session.hpp"

#include "mysql/libmariadb.hpp"

#include <stdexcept>

#include <mysql.h>

namespace holdfast::bench {
namespace {

struct frees_result {
    void operator()(MYSQL_RES* result) const noexcept { mysql_free_result(result); }
};

[[noreturn]] void fail(MYSQL* handle) {
    throw std::runtime_error{std::to_string(mysql_errno(handle)) + ": " + mysql_error(handle)};
}

} // namespace

void session::closes::operator()(MYSQL* handle) const noexcept {
    mysql_close(handle);
}

session::session(const support::mariadb_server& where) {
    mysql::prepare_library();
    handle_.reset(mysql_init(nullptr));
    // CLIENT_FOUND_ROWS counts all matched rows, as Java's driver does. Without it, an UPDATE that
    // sets the same time again would count no row.
    if (mysql_real_connect(handle_.get(), "127.0.0.1", support::mariadb_server::user,
                           support::mariadb_server::password, support::mariadb_server::schema,
                           where.port(), nullptr, CLIENT_FOUND_ROWS) == nullptr)
        fail(handle_.get());
}

long long session::change(const std::string& statement) {
    send(statement);
    return static_cast<long long>(mysql_affected_rows(handle_.get()));
}

std::string session::value(const std::string& statement) {
    send(statement);
    const std::unique_ptr<MYSQL_RES, frees_result> result{mysql_store_result(handle_.get())};
    MYSQL_ROW const row = result ? mysql_fetch_row(result.get()) : nullptr;
    if (row == nullptr)
        fail(handle_.get());
    return row[0] ? row[0] : "";
}

void session::send(const std::string& statement) {
    if (mysql_real_query(handle_.get(), statement.data(), statement.size()) != 0)
        fail(handle_.get());
}

} // namespace holdfast::bench
