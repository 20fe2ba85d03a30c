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
    /// Returns whether the connection failed. The client library has the numbers from 2000 to 2999.
    bool is_of_connection() const { return code >= 2000 && code < 3000; }
};

/// Session with MariaDB or MySQL. It uses blocking calls and does not use holdfast. Tests use it in
/// the role of an operator.
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

    /// Runs a statement. Returns the selected rows, or no rows for other statements. Throws
    /// `sql_error`.
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

/// Returns a folder with data to copy: the server's own tables, and an empty schema for tests. It
/// takes seconds to create the folder, so all tests of a build folder share it. Throws
/// `server_unavailable`.
std::filesystem::path prepared_data(const server_binary&);

/// Returns the options that the server needs each time it uses these data.
std::vector<std::string> data_arguments(const server_binary&, const std::filesystem::path& data);

/// Returns whether the server is MySQL and not MariaDB. MySQL creates its own tables, and has other
/// options.
bool is_mysql(const server_binary&);

// Real MariaDB or MySQL server of a single test. It has a new folder, a unix socket, a free port
// and an empty schema. It ends when the object is destroyed or the test program ends.

/// Returns the MariaDB server: HOLDFAST_MARIADB_SERVER, or the server of the distribution's
/// package.
server_binary mariadb();

/// Returns the downloaded MySQL servers that HOLDFAST_NEWER_MYSQL lists ("mysql-9=/where/it/is;…").
/// The result may be empty.
std::vector<server_binary> newer_mysql();

/// Returns the MariaDB server and then the MySQL servers.
std::vector<server_binary> mysql_servers();

class mariadb_server {
public:
    static constexpr const char* schema = "holdfast_test";
    /// User that has all rights in the schema and no other rights.
    static constexpr const char* user = "holdfast";
    static constexpr const char* password = "secret";

    struct options {
        /// Offer TLS with a certificate of `certificates()`. The same port also accepts plain
        /// TCP.
        bool tls = false;
        /// Value of `innodb_flush_log_at_trx_commit`. With 2, no commit waits for the disk. If only
        /// the server process ends, no data are lost.
        int flush_at_commit = 2;
        bool own_clock = false;               ///< make `step_clock` work; needs a C compiler
        std::vector<std::string> arguments{}; ///< further words of the server's command line
        /// Further environment variables of the server, in the form `NAME=value`.
        std::vector<std::string> environment{};
        std::uint16_t port = 0; ///< port; zero: a free port
        /// Folder with the initial data. Empty: a fresh schema.
        std::filesystem::path data{};
    };

    /// Starts the server, and returns when it answers. The server ends with the thread that makes
    /// this object.
    explicit mariadb_server(const server_binary& which = mariadb())
        : mariadb_server{which, options{}} {}
    mariadb_server(server_binary, options);

    void start();
    void stop();      ///< kills the server, like kill -9
    void shut_down(); ///< shuts the server down cleanly; returns after its end
    void restart();   ///< restarts with the same addresses and data; the clock keeps its steps
    void restart(std::vector<std::string> arguments); ///< restarts with other arguments
    /// Restarts the server with the same addresses and without data.
    void restart_empty();
    void pause() { process_.pause(); } ///< sends SIGSTOP: connections stay open, but get no replies
    void resume() { process_.resume(); }
    /// Returns whether the server runs. False after `stop` or `pause`.
    bool is_up() const { return process_.is_up(); }

    /// Moves the server's date. The server's own timed waits (SLEEP, GET_LOCK) then follow the
    /// moved date too.
    void step_clock(duration);
    void right_clock(); ///< undoes all steps of the clock

    /// Runs a statement in `schema` as an operator with all rights. Uses its own connection, and
    /// reconnects if the connection was lost. Throws `sql_error`.
    sql_connection::rows sql(const std::string& statement);
    /// Returns the first value of the first row, or "" if there is none.
    std::string value(const std::string& statement);
    /// Returns a counter of `SHOW GLOBAL STATUS`, for example "Com_update".
    std::uint64_t counted(const std::string& what);
    /// Opens a further session, for example to hold a row lock.
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
