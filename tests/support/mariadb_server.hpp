// SPDX-License-Identifier: Apache-2.0
// A real MariaDB server, or MySQL's, of a test's own: in a fresh folder, on a unix socket and a
// port that is free, gone when the object or the test program is. It comes with an empty schema.
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

/// MariaDB's: HOLDFAST_MARIADB_SERVER, or where the distribution has it.
server_binary mariadb();

/// MySQL's, where it was fetched: HOLDFAST_NEWER_MYSQL ("mysql-9=/where/it/is;…"). There may be
/// none.
std::vector<server_binary> newer_mysql();

/// The first, and then the others.
std::vector<server_binary> mysql_servers();

class mariadb_server {
public:
    static constexpr const char* schema = "holdfast_test";
    static constexpr const char* user = "holdfast"; ///< who has all rights there, and no others
    static constexpr const char* password = "secret";

    struct options {
        bool tls =
            false; ///< with a certificate of `certificates()`; the same port also takes plain
        /// `innodb_flush_log_at_trx_commit`. 2: no commit waits for the disk; nothing is lost if
        /// only the program dies.
        int flush_at_commit = 2;
        bool own_clock = false;                 ///< `step_clock` works; needs a C compiler
        std::vector<std::string> arguments{};   ///< as on its command line
        std::vector<std::string> environment{}; ///< beside ours: `NAME=value`
        std::uint16_t port = 0;                 ///< zero: one that is free
        std::filesystem::path data{};           ///< what it starts with; empty: a fresh schema
    };

    /// Returns when it answers. The server dies with the thread that makes it.
    explicit mariadb_server(const server_binary& which = mariadb())
        : mariadb_server{which, options{}} {}
    mariadb_server(server_binary, options);

    void start();
    void stop();      ///< at once, as kill -9 does
    void shut_down(); ///< as an operator does; returns when it has ended
    void restart();   ///< on the same addresses, with what was there; its clock stays stepped
    void restart(std::vector<std::string> arguments); ///< with these instead of those it had
    void restart_empty();                             ///< likewise, without data
    void pause() { process_.pause(); } ///< SIGSTOP: connections stay, nothing is answered
    void resume() { process_.resume(); }
    bool is_up() const { return process_.is_up(); } ///< as far as we have done it

    /// Moves its date. Its own timed waits (SLEEP, GET_LOCK) then end by the date, too.
    void step_clock(duration);
    void right_clock(); ///< all steps are undone

    /// A statement of the operator, who has all rights, in `schema`: on a connection of its own,
    /// which is made anew where it was lost. Throws `sql_error`.
    sql_connection::rows sql(const std::string& statement);
    std::string value(const std::string& statement); ///< the first of the first row, or ""
    /// `SHOW GLOBAL STATUS`, as of "Com_update".
    std::uint64_t counted(const std::string& what);
    /// Another session, as for who holds a row.
    sql_connection connect() const;

    /// The program and what it is started with.
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
