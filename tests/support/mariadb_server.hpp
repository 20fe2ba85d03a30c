// SPDX-License-Identifier: Apache-2.0
// MariaDB and MySQL servers for tests: their data, and the sessions of an operator.
#pragma once

#include "support/clocks.hpp"
#include "support/server_process.hpp"
#include "support/tls.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

struct st_mysql;

namespace holdfast::support {

/// Exception: the server refused a statement, or the connection failed.
struct sql_error : std::runtime_error {
    sql_error(unsigned number, const std::string& text)
        : std::runtime_error{std::to_string(number) + ": " + text}
        , code{number} {}
    unsigned code; ///< error number of the server, for example 1205
    /// Returns whether the connection failed: the client library's own errors have the numbers 2000
    /// to 2999.
    bool is_of_connection() const { return code >= 2000 && code < 3000; }
};

/// Session with MariaDB or MySQL, with blocking calls and without holdfast. Tests use it as an
/// operator would.
class sql_connection {
public:
    using row = std::vector<std::optional<std::string>>;
    using rows = std::vector<row>;

    struct login {
        std::string user = "root";
        std::string password{};
        std::string schema{};
        /// Make `changed` return the number of matched rows (CLIENT_FOUND_ROWS).
        bool counts_matched_rows = false;
    };

    /// Connects. Throws `sql_error`, with code 2002 if no server listens.
    sql_connection(const std::filesystem::path& socket, const login&);

    /// Runs a statement, and returns the rows of a SELECT. Throws `sql_error`.
    rows run(const std::string& statement);
    /// Returns the first value of the first row. Returns "" for NULL, or if there is no row.
    std::string value(const std::string& statement);

    std::uint64_t changed() const;   ///< number of rows that the last statement changed
    std::uint64_t insert_id() const; ///< insert id of the last statement
    std::uint64_t id() const;        ///< id of this session, for KILL

private:
    struct closes {
        void operator()(st_mysql*) const noexcept;
    };
    std::unique_ptr<st_mysql, closes> handle_;
};

/// Returns a folder with initial data to copy: the server's own tables, and an empty schema for
/// tests. All tests of a build folder share it, because it takes seconds to create. Throws
/// `server_unavailable` if the server is missing.
std::filesystem::path prepared_data(const server_binary&);

/// Returns the command-line options for a server with these data.
std::vector<std::string> data_arguments(const server_binary&, const std::filesystem::path& data);

/// Returns whether the server is MySQL and not MariaDB. The two have different options.
bool is_mysql(const server_binary&);

// Real MariaDB or MySQL server of a single test. It has a new folder, a unix socket, a free port
// and an empty schema. It ends when the object is destroyed or the test program ends.

/// Returns the MariaDB server in HOLDFAST_MARIADB_SERVER, or else in the distribution's package.
server_binary mariadb();

/// Returns the MySQL servers that HOLDFAST_NEWER_MYSQL lists ("mysql-9=/where/it/is;…"). The result
/// may be empty.
std::vector<server_binary> newer_mysql();

/// Returns the MariaDB server and then the MySQL servers.
std::vector<server_binary> mysql_servers();

class mariadb_server {
public:
    static constexpr const char* schema = "holdfast_test";
    /// User with all privileges in the schema, and no others.
    static constexpr const char* user = "holdfast";
    static constexpr const char* password = "secret";

    struct options {
        /// Offer TLS with a certificate of `certificates()`, in addition to plain TCP.
        bool tls = false;
        /// Value of `innodb_flush_log_at_trx_commit`. With 2, no commit waits for the disk, and a
        /// kill of the server process still loses no data.
        int flush_at_commit = 2;
        bool own_clock = false;               ///< make `step_clock` work; needs a C compiler
        std::vector<std::string> arguments{}; ///< further words of the server's command line
        /// Further environment variables of the server, in the form `NAME=value`.
        std::vector<std::string> environment{};
        std::uint16_t port = 0; ///< port; zero: a free port
        /// Folder with the initial data. Empty: a fresh schema.
        std::filesystem::path data{};
    };

    /// Starts the server, and returns when it answers. The server ends when the thread that called
    /// the constructor ends.
    explicit mariadb_server(const server_binary& which = mariadb())
        : mariadb_server{which, options{}} {}
    mariadb_server(server_binary, options);

    void start();
    void stop();      ///< kills the server, like kill -9
    void shut_down(); ///< shuts the server down cleanly; returns after its end
    void restart();   ///< restarts with the same addresses and data; steps of the clock stay
    void restart(std::vector<std::string> arguments); ///< restarts with other arguments
    /// Restarts the server with the same addresses and without data.
    void restart_empty();
    void pause() { process_.pause(); } ///< sends SIGSTOP: connections stay open, but get no replies
    void resume() { process_.resume(); }
    /// Returns whether the server runs. False after `stop` or `pause`.
    bool is_up() const { return process_.is_up(); }

    /// Moves the server's date. Timed waits in the server (SLEEP, GET_LOCK) end earlier or later,
    /// too.
    void step_clock(duration);
    void right_clock(); ///< undoes all steps of the clock

    /// Runs a statement in `schema` as a user with all privileges. Uses its own connection, which
    /// it opens again if necessary. Throws `sql_error`.
    sql_connection::rows sql(const std::string& statement);
    /// Returns the first value of the first row, or "" if there is none.
    std::string value(const std::string& statement);
    /// Returns the value of a counter in `SHOW GLOBAL STATUS`, for example "Com_update".
    std::uint64_t counted(const std::string& what);
    /// Opens another session, for example to hold a row lock.
    sql_connection connect() const;

    /// Returns the path of the server program and its arguments.
    std::vector<std::string> command_line() const;

    pid_t pid() const { return process_.pid(); }
    std::uint16_t port() const { return port_; }
    std::string socket_path() const { return (process_.folder() / "socket").string(); }
    const std::filesystem::path& folder() const { return process_.folder(); }
    std::filesystem::path data_folder() const { return process_.folder() / "data"; }
    std::string url() const; ///< URL for a client, with user and password
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
