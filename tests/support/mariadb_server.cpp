// SPDX-License-Identifier: Apache-2.0
#include "support/mariadb_server.hpp"

#include "support/mariadb_data.hpp"

#include <cstdlib>
#include <stdexcept>
#include <utility>

namespace holdfast::support {
namespace fs = std::filesystem;
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
    // After the server has recovered its data, it sends a greeting to each new connection.
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
