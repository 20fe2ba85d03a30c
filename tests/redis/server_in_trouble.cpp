// SPDX-License-Identifier: Apache-2.0
#include "server_in_trouble.hpp"

#include "support/eventually.hpp"
#include "support/redis_connection.hpp"

#include <filesystem>
#include <stdexcept>
#include <utility>

namespace holdfast {
namespace {

/// So many keys, and such a pause at each, that reading them lasts longer than any test.
constexpr const char* keys_to_read = "3000";
constexpr const char* pause_at_each_us = "10000";

void read_slowly(server_in_trouble& at) {
    // Between two keys, each longer than a kilobyte, it looks whether anybody asks.
    at.set("rdbcompression", "no");
    at.set("loading-process-events-interval-bytes", "1024");
    at.server().command({"DEBUG", "POPULATE", keys_to_read, "filler", "2000"});
    at.set("key-load-delay", pause_at_each_us);
    at.run_aside({"DEBUG", "RELOAD"});
}
void read_on(server_in_trouble& at) {
    at.set("key-load-delay", "0");
    at.wait_for_what_runs_aside();
}

void loop(server_in_trouble& at) {
    at.set("busy-reply-threshold", "1");
    at.run_aside({"EVAL", "while true do end", "0"});
}
void stop_looping(server_in_trouble& at) {
    at.server().command({"SCRIPT", "KILL"});
    at.wait_for_what_runs_aside();
}

void follow_nobody_there(server_in_trouble& at) {
    at.server().command({"REPLICAOF", "127.0.0.1", "1"});
}
void lead(server_in_trouble& at) {
    at.server().command({"REPLICAOF", "NO", "ONE"});
}

void follow_in_silence(server_in_trouble& at) {
    at.set("replica-read-only", "no"); // or that would be what it says of a write
    at.set("replica-serve-stale-data", "no");
    follow_nobody_there(at);
}

void want_replicas(server_in_trouble& at) {
    at.set("min-replicas-to-write", "1");
}
void want_none(server_in_trouble& at) {
    at.set("min-replicas-to-write", "0");
}

/// Root may write to any folder, but nobody renames a file over one.
void save_in_vain(server_in_trouble& at) {
    const std::filesystem::path socket = at.server().socket_path();
    std::filesystem::create_directory(socket.parent_path() / "dump.rdb");
    at.set("save", "3600 1");
    at.server().command({"BGSAVE"});
}
void save_nothing(server_in_trouble& at) {
    at.set("save", "");
}

void shrink(server_in_trouble& at) {
    at.set("maxmemory", "1");
}
void grow(server_in_trouble& at) {
    at.set("maxmemory", "0");
}

} // namespace

std::vector<trouble> troubles() {
    return {{"Loading", store_errc::loading, "LOADING", read_slowly, read_on},
            {"Busy", store_errc::busy_script, "BUSY", loop, stop_looping},
            {"Replica", store_errc::read_only, "READONLY", follow_nobody_there, lead},
            {"MasterDown", store_errc::master_down, "MASTERDOWN", follow_in_silence, lead},
            {"NoReplicas", store_errc::no_replicas, "NOREPLICAS", want_replicas, want_none},
            {"Misconf", store_errc::disk_trouble, "MISCONF", save_in_vain, save_nothing},
            {"Oom", store_errc::out_of_memory, "OOM", shrink, grow, true}};
}

void PrintTo(const trouble& which, std::ostream* to) {
    *to << which.label;
}

server_in_trouble::server_in_trouble(const support::server_binary& which)
    : server_{which, {.arguments = {"--enable-debug-command", "yes"}}} {}

server_in_trouble::~server_in_trouble() {
    if (now_in_)
        now_in_->end(*this);
}

void server_in_trouble::set(const std::string& parameter, const std::string& value) {
    const redis::reply answer = server_.command({"CONFIG", "SET", parameter, value});
    if (answer.text != "OK")
        throw std::runtime_error{"CONFIG SET " + parameter + ": " + answer.text};
}

void server_in_trouble::run_aside(std::vector<std::string> command) {
    aside_ = std::jthread{[words = std::move(command), path = server_.socket_path()] {
        try {
            support::redis_connection{path}.command(words);
        } catch (const std::runtime_error&) {
            return; // nobody waits for its answer
        }
    }};
}

void server_in_trouble::begin(const trouble& which) {
    now_in_ = &which;
    which.begin(*this);
    const auto refuses = [&] {
        return server_.command({"SET", "anything", "x"}).text.starts_with(which.words);
    };
    if (!support::eventually(refuses))
        throw std::runtime_error{std::string{"the server never said "} + which.words};
}

void server_in_trouble::end(const trouble& which) {
    which.end(*this);
    now_in_ = nullptr;
}

} // namespace holdfast
