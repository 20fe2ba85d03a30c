// SPDX-License-Identifier: Apache-2.0
// Real MariaDB or MySQL server of a single test. It has a fresh folder, a unix socket, a free port
// and an empty schema. It ends with the object or the test program.
#pragma once

#include "support/certificates.hpp"
#include "support/moved_clock.hpp"
#include "support/reserved_port.hpp"
#include "support/server_process.hpp"
#include "support/sql_connection.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::support {

/// Returns MariaDB's server: HOLDFAST_MARIADB_SERVER, or the file of the distribution's package.
server_binary mariadb();

/// Returns the MySQL servers that were downloaded: HOLDFAST_NEWER_MYSQL ("mysql-9=/where/it/is;…").
/// May be empty.
std::vector<server_binary> newer_mysql();

/// Returns MariaDB's server, then the MySQL servers.
std::vector<server_binary> mysql_servers();

class mariadb_server {
public:
    static constexpr const char* schema = "holdfast_test";
    static constexpr const char* user = "holdfast"; ///< has all rights in the schema, and no others
    static constexpr const char* password = "secret";

    struct options {
        bool tls =
            false; ///< with a certificate of `certificates()`; the same port also takes plain TCP
        /// `innodb_flush_log_at_trx_commit`. With 2, no commit waits for the disk. Nothing is lost
        /// if only the program ends.
        int flush_at_commit = 2;
        bool own_clock = false;                 ///< `step_clock` works; needs a C compiler
        std::vector<std::string> arguments{};   ///< added to its command line
        std::vector<std::string> environment{}; ///< added to our environment: `NAME=value`
        std::uint16_t port = 0;                 ///< zero for a free port
        std::filesystem::path data{};           ///< initial data; empty for a fresh schema
    };

    /// Returns when the server answers. The server ends with the thread that makes this object.
    explicit mariadb_server(const server_binary& which = mariadb())
        : mariadb_server{which, options{}} {}
    mariadb_server(server_binary, options);

    void start();
    void stop();      ///< at once, like kill -9
    void shut_down(); ///< as an operator does; returns when it has ended
    void restart();   ///< same addresses and data; its clock stays stepped
    void restart(std::vector<std::string> arguments); ///< replaces the arguments
    void restart_empty();                             ///< same addresses, without data
    void pause() { process_.pause(); } ///< SIGSTOP: connections stay, no request is answered
    void resume() { process_.resume(); }
    bool is_up() const { return process_.is_up(); } ///< false after `stop` or `pause`

    /// Moves the server's date. Its own timed waits (SLEEP, GET_LOCK) then follow this date too.
    void step_clock(duration);
    void right_clock(); ///< undoes all steps

    /// Runs a statement as the operator, who has all rights, in `schema`. It uses its own
    /// connection, and reconnects if that was lost. Throws `sql_error`.
    sql_connection::rows sql(const std::string& statement);
    std::string value(const std::string& statement); ///< first value of the first row, or ""
    /// Returns a value of `SHOW GLOBAL STATUS`, for example "Com_update".
    std::uint64_t counted(const std::string& what);
    /// Opens another session, for example to hold a row lock.
    sql_connection connect() const;

    /// Returns the program with its arguments.
    std::vector<std::string> command_line() const;

    pid_t pid() const { return process_.pid(); }
    std::uint16_t port() const { return port_; }
    std::string socket_path() const { return (process_.folder() / "socket").string(); }
    const std::filesystem::path& folder() const { return process_.folder(); }
    std::filesystem::path data_folder() const { return process_.folder() / "data"; }
    std::string url() const; ///< with user and password
    std::string unix_url() const;
    const authority& certificates() const { return authority_.value(); }
    const std::string& label() const { return which_.label; }

private:
    server_binary which_;
    options how_;
    std::optional<reserved_port> reserved_;
    std::uint16_t port_ = 0;
    std::optional<authority> authority_;
    std::optional<identity> identity_;
    server_process process_;
    std::unique_ptr<moved_clock> clock_;
    std::optional<sql_connection> operator_;
};

} // namespace holdfast::support
