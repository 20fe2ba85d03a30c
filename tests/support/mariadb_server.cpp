// SPDX-License-Identifier: Apache-2.0
#include "support/mariadb_server.hpp"

#include <array>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <mutex>
#include <sstream>
#include <utility>

#include <fcntl.h>
#include <mysql.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

namespace holdfast::support {
namespace {

/// Initialises the client library once. The library makes the process ignore SIGPIPE; this function
/// undoes that, because tests check that holdfast does not change signals.
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

namespace fs = std::filesystem;
namespace {

/// Exclusive file lock between processes. The kernel releases it when the process ends.
class file_lock {
public:
    explicit file_lock(const fs::path& file)
        : file_{open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)} {
        if (file_ < 0 || flock(file_, LOCK_EX) != 0)
            throw server_unavailable{"cannot lock " + file.string()};
    }
    file_lock(const file_lock&) = delete;
    ~file_lock() { close(file_); }

private:
    int file_;
};

std::string text_in(const fs::path& file) {
    std::ostringstream text;
    text << std::ifstream{file}.rdbuf();
    return text.str();
}

/// Returns the SQL statements that create MariaDB's own tables, from files that are installed with
/// the server. (The program that usually sends them needs files of another package.)
std::string system_tables() {
    constexpr std::array names{"system_tables.sql", "system_tables_data.sql"};
    for (const fs::path folder : {"/usr/share/mysql", "/usr/share/mariadb"})
        for (const std::string before : {"mysql_", "mariadb_"})
            if (fs::exists(folder / (before + names[0])))
                return text_in(folder / (before + names[0])) +
                       text_in(folder / (before + names[1]));
    throw server_unavailable{"MariaDB's mysql_system_tables.sql is not there"};
}

std::string our_schema() {
    const std::string schema = mariadb_server::schema, user = mariadb_server::user;
    return "CREATE DATABASE " + schema + ";\nCREATE USER " + user + "@'%' IDENTIFIED BY '" +
           mariadb_server::password + "';\nGRANT ALL ON " + schema + ".* TO " + user + "@'%';\n";
}

/// Returns the first statements for the server, one per line: a server that creates its data
/// accepts only one statement per line.
std::string first_statements(const server_binary& which) {
    // Without this privilege, MySQL does not tell a user whether the server is a replica.
    if (is_mysql(which))
        return our_schema() + "GRANT REPLICATION CLIENT ON *.* TO " + mariadb_server::user +
               "@'%';\n";
    return "CREATE DATABASE mysql;\nUSE mysql;\nSET @auth_root_socket=NULL;\n" + system_tables() +
           "FLUSH PRIVILEGES;\n" + our_schema();
}

std::string quoted(const std::string& word) {
    // No escaping: the folder of a test program has no quote in its name.
    return "'" + word + "'";
}

std::string command_that_makes(const server_binary& which, const fs::path& data,
                               const fs::path& statements) {
    std::string command = quoted(which.path);
    for (const std::string& each : data_arguments(which, data))
        command += " " + quoted(each);
    const std::string file = quoted(statements.string());
    command +=
        is_mysql(which) ? " --initialize-insecure --init-file=" + file : " --bootstrap < " + file;
    return command + " > " + quoted(data.string() + ".log") + " 2>&1";
}

void make_data(const server_binary& which, const fs::path& wanted, const std::string& statements) {
    const fs::path beside = wanted.string() + ".new";
    fs::remove_all(beside);
    fs::create_directories(beside);
    const fs::path file = wanted.string() + ".sql";
    std::ofstream{file} << statements;
    if (std::system(command_that_makes(which, beside, file).c_str()) != 0)
        throw server_unavailable{
            which.path + " does not make its data. It said: " + text_in(beside.string() + ".log")};
    fs::rename(beside, wanted);
}

} // namespace

bool is_mysql(const server_binary& which) {
    return which.label.starts_with("mysql");
}

std::vector<std::string> data_arguments(const server_binary& which, const fs::path& data) {
    std::vector<std::string> words{"--no-defaults", "--datadir=" + data.string(),
                                   // Temporary files go outside the data, because a starting server
                                   // deletes the temporary tables in its tmpdir.
                                   "--tmpdir=" + data.parent_path().string(),
                                   "--innodb-autoextend-increment=1", "--innodb-flush-method=fsync",
                                   "--innodb-use-native-aio=0", "--innodb-buffer-pool-size=8M",
                                   "--performance-schema=OFF", "--skip-log-bin"};
    const std::vector<std::string> more =
        is_mysql(which)
            ? std::vector<std::string>{"--innodb-redo-log-capacity=8M", "--skip-innodb-doublewrite",
                                       "--mysqlx=OFF", "--secure-file-priv=NULL"}
            : std::vector<std::string>{"--innodb-log-file-size=4M",
                                       "--innodb-data-file-path=ibdata1:1M:autoextend",
                                       "--innodb-temp-data-file-path=ibtmp1:1M:autoextend"};
    words.insert(words.end(), more.begin(), more.end());
    if (geteuid() == 0)
        words.emplace_back("--user=root"); // the server refuses to run as root without this option
    return words;
}

fs::path prepared_data(const server_binary& which) {
    if (!fs::exists(which.path))
        throw server_unavailable{"there is no " + which.path};
    const fs::path folder = fs::read_symlink("/proc/self/exe").parent_path() / "server_data";
    fs::create_directories(folder);
    const std::string statements = first_statements(which);
    std::string version = which.path + std::to_string(fs::file_size(which.path)) + statements;
    for (const std::string& each : data_arguments(which, folder))
        version += each;
    const fs::path data =
        folder / (which.label + "-" + std::to_string(std::hash<std::string>{}(version)));
    const file_lock alone{folder / "lock"};
    if (!fs::exists(data))
        make_data(which, data, statements);
    return data;
}

namespace {

constexpr unsigned lost_connection = 2013, server_gone = 2006, killed = 1927, idle_too_long = 4031;

bool is_lost(const sql_error& why) {
    return why.code == lost_connection || why.code == server_gone || why.code == killed ||
           why.code == idle_too_long;
}

} // namespace

server_binary mariadb() {
    const char* const set = std::getenv("HOLDFAST_MARIADB_SERVER");
    return {"mariadb", set != nullptr ? set : "/usr/sbin/mariadbd"};
}

std::vector<server_binary> newer_mysql() {
    return servers_in("HOLDFAST_NEWER_MYSQL");
}

std::vector<server_binary> mysql_servers() {
    std::vector<server_binary> all = newer_mysql();
    all.insert(all.begin(), mariadb());
    return all;
}

mariadb_server::mariadb_server(server_binary which, options how)
    : which_{std::move(which)}
    , how_{std::move(how)} {
    port_ = how_.port != 0 ? how_.port : reserved_.emplace().number();
    if (how_.tls)
        identity_ = authority_.emplace().issue("server");
    if (how_.own_clock)
        clock_ = std::make_unique<moved_clock>(process_.folder());
    restart_empty();
}

std::vector<std::string> mariadb_server::command_line() const {
    std::vector<std::string> words{which_.path};
    const auto add = [&words](const std::vector<std::string>& more) {
        words.insert(words.end(), more.begin(), more.end());
    };
    add(data_arguments(which_, data_folder()));
    add({"--socket=" + socket_path(), "--port=" + std::to_string(port_), "--bind-address=127.0.0.1",
         "--skip-name-resolve", "--pid-file=" + (process_.folder() / "pid").string(),
         "--innodb-buffer-pool-load-at-startup=OFF", "--innodb-buffer-pool-dump-at-shutdown=OFF",
         "--innodb-flush-log-at-trx-commit=" + std::to_string(how_.flush_at_commit)});
    if (identity_)
        add({"--ssl-cert=" + identity_->certificate_file, "--ssl-key=" + identity_->key_file,
             "--ssl-ca=" + authority_->file()});
    add(how_.arguments);
    return words;
}

void mariadb_server::start() {
    std::vector<std::string> variables = how_.environment;
    if (clock_)
        for (const std::string& each : clock_->environment())
            variables.push_back(each);
    // Wait for the greeting, which the server sends to each new connection after it has recovered
    // its data.
    process_.start(command_line(), variables,
                   [this] { return !words_at(fs::path{socket_path()}, 1).empty(); });
}

void mariadb_server::stop() {
    operator_.reset();
    process_.stop();
}
void mariadb_server::shut_down() {
    operator_.reset();
    process_.shut_down();
}

void mariadb_server::restart() {
    stop();
    start();
}

void mariadb_server::restart(std::vector<std::string> arguments) {
    how_.arguments = std::move(arguments);
    restart();
}

void mariadb_server::restart_empty() {
    stop();
    process_.remove("data");
    fs::copy(how_.data.empty() ? prepared_data(which_) : how_.data, data_folder(),
             fs::copy_options::recursive);
    start();
}

void mariadb_server::step_clock(duration step) {
    if (!clock_)
        throw std::logic_error{"a server whose clock is stepped is made with own_clock"};
    clock_->step(step);
}

void mariadb_server::right_clock() {
    if (clock_)
        clock_->reset();
}

sql_connection mariadb_server::connect() const {
    return {socket_path(), {.schema = schema}};
}

sql_connection::rows mariadb_server::sql(const std::string& statement) {
    try {
        if (operator_)
            return operator_->run(statement);
    } catch (const sql_error& why) {
        if (!is_lost(why))
            throw;
        operator_.reset();
    }
    return operator_.emplace(connect()).run(statement);
}

std::string mariadb_server::value(const std::string& statement) {
    const sql_connection::rows all = sql(statement);
    return all.empty() ? std::string{} : all.front().at(0).value_or("");
}

std::uint64_t mariadb_server::counted(const std::string& what) {
    const sql_connection::rows all = sql("SHOW GLOBAL STATUS LIKE '" + what + "'");
    return all.empty() ? 0 : std::stoull(all.front().at(1).value_or("0"));
}

std::string mariadb_server::url() const {
    return std::string{"mysql://"} + user + ":" + password + "@127.0.0.1:" + std::to_string(port_) +
           "/" + schema;
}

std::string mariadb_server::unix_url() const {
    return "mysql+unix://" + socket_path() + "?database=" + schema;
}

} // namespace holdfast::support
