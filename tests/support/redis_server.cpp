// SPDX-License-Identifier: Apache-2.0
#include "support/redis_server.hpp"

#include "support/clocks.hpp"

#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace holdfast::support {
redis_server::redis_server(server_binary which, options how)
    : which_{std::move(which)}
    , how_{std::move(how)}
    , socket_{(process_.folder() / "socket").string()} {
    if (how_.tcp)
        port_ = how_.port != 0 ? how_.port : reserve();
    if (how_.tls)
        tls_port_ = how_.tls_port != 0 ? how_.tls_port : reserve();
    if (how_.cluster)
        bus_port_ = how_.bus_port != 0 ? how_.bus_port : reserve();
    if (how_.own_clock)
        clock_ = std::make_unique<moved_clock>(process_.folder());
    if (!how_.nodes.empty())
        process_.write("nodes.conf", how_.nodes);
    write_configuration();
    start();
}

redis_server::~redis_server() {
    stop();
}

std::uint16_t redis_server::reserve() {
    return reserved_.emplace_back().number();
}

/// Writes the configuration of a Sentinel, which later changes the file itself.
void redis_server::write_configuration() const {
    if (!how_.sentinel.empty())
        process_.write("sentinel.conf", "unixsocket " + socket_ + "\ndir " +
                                            process_.folder().string() + "\n" + "port " +
                                            std::to_string(port_) + "\n" + how_.sentinel);
}

std::vector<std::string> redis_server::command_line() const {
    if (!how_.sentinel.empty())
        return {which_.path, (process_.folder() / "sentinel.conf").string(), "--sentinel"};
    std::vector<std::string> words{which_.path,
                                   "--unixsocket",
                                   socket_,
                                   "--port",
                                   std::to_string(port_),
                                   "--bind",
                                   "127.0.0.1",
                                   "--save",
                                   "",
                                   "--daemonize",
                                   "no",
                                   "--dir",
                                   process_.folder().string(),
                                   "--loglevel",
                                   "warning"};
    const auto add = [&words](const std::vector<std::string>& more) {
        words.insert(words.end(), more.begin(), more.end());
    };
    add({"--appendonly", how_.keeps_data ? "yes" : "no"});
    if (how_.keeps_data)
        add({"--appendfsync", "always"});
    if (how_.tls)
        add({"--tls-port", std::to_string(tls_port_)});
    if (how_.cluster)
        add({"--cluster-enabled", "yes", "--cluster-port", std::to_string(bus_port_)});
    if (!how_.password.empty())
        add({"--requirepass", how_.password, "--masterauth", how_.password});
    add(how_.arguments);
    return words;
}

void redis_server::start() {
    process_.start(command_line(), clock_ ? clock_->environment() : std::vector<std::string>{},
                   [this] { return answers(); });
}

bool redis_server::answers() {
    try {
        connection_.emplace(socket_, how_.password);
        return !connection_->command({"PING"}).text.starts_with("LOADING");
    } catch (const std::runtime_error&) {
        return false; // the server does not listen yet
    }
}

void redis_server::stop() {
    connection_.reset();
    if (!process_.is_running())
        return;
    process_.stop();
    process_.remove("socket");
    if (!how_.keeps_data)
        process_.remove("dump.rdb"); // a replica saves its primary's data in this file
}

void redis_server::restart() {
    stop();
    start();
}

void redis_server::restart_empty() {
    stop();
    process_.remove("dump.rdb");
    process_.remove("appendonlydir");
    write_configuration();
    start();
}

void redis_server::restart_empty(std::vector<std::string> arguments) {
    how_.arguments = std::move(arguments);
    restart_empty();
}

void redis_server::step_clock(duration step) {
    if (!clock_)
        throw std::logic_error{"a server whose clock is stepped is made with own_clock"};
    clock_->step(step);
}

void redis_server::right_clock() {
    if (clock_)
        clock_->reset();
}

redis::reply redis_server::command(const std::vector<std::string>& words) {
    try {
        if (connection_)
            return connection_->command(words);
    } catch (const connection_closed&) {
        connection_.reset();
    }
    connection_.emplace(socket_, how_.password);
    return connection_->command(words);
}

std::string redis_server::url() const {
    return port_ != 0 ? "redis://127.0.0.1:" + std::to_string(port_) : "unix://" + socket_;
}

std::string info_of(redis_server& server, const std::string& section, const std::string& field) {
    std::istringstream lines{server.command({"INFO", section}).text};
    for (std::string line; std::getline(lines, line);)
        if (line.starts_with(field + ":"))
            return line.substr(field.size() + 1, line.find('\r') - field.size() - 1);
    return {};
}

bool is_primary(redis_server& server) {
    return info_of(server, "replication", "role") == "master";
}

long long offset_of(redis_server& server) {
    const char* const field = is_primary(server) ? "master_repl_offset" : "slave_repl_offset";
    return std::strtoll(info_of(server, "replication", field).c_str(), nullptr, 10);
}

bool is_in_sync(redis_server& replica, long long offset) {
    return info_of(replica, "replication", "master_link_status") == "up" &&
           offset_of(replica) >= offset;
}

int replicas_online(redis_server& server) {
    const std::string text = server.command({"INFO", "replication"}).text;
    const std::string sign = "state=online";
    int count = 0;
    for (std::size_t at = text.find(sign); at != text.npos; at = text.find(sign, at + 1))
        ++count;
    return count;
}

} // namespace holdfast::support
