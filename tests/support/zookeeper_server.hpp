// SPDX-License-Identifier: Apache-2.0
// Real ZooKeeper server of a single test. It has a fresh folder and free ports. It ends with the
// object or the test program.
#pragma once

#include "support/certificates.hpp"
#include "support/reserved_port.hpp"
#include "support/server_process.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::support {

/// Returns the server of the distribution's package, or HOLDFAST_ZOOKEEPER. Each path is a class
/// path.
server_binary zookeeper();

/// Returns the servers that were downloaded: HOLDFAST_NEWER_ZOOKEEPERS ("zookeeper-3.9.4=<class
/// path>;…"). May be empty.
std::vector<server_binary> newer_zookeepers();

/// Returns the distribution's server, then the others.
std::vector<server_binary> zookeepers();

class zookeeper_server {
public:
    struct options {
        /// A second port, for TLS, with a certificate of `authority`.
        bool tls = false;
        /// Whether the server asks for the client's certificate, as `ssl.clientAuth`: none, want,
        /// need.
        std::string client_certificates = "none";

        /// Tick of the server. Session timeouts are 2 to 20 ticks, and sessions expire at whole
        /// ticks.
        std::chrono::milliseconds tick{200};
        /// How often the server looks for empty containers. Its own default is a minute.
        std::chrono::milliseconds container_check{60'000};
        /// If false, no write waits for the disk. Nothing is lost if only the program ends.
        bool forces_to_disk = false;

        std::vector<std::string> lines{};      ///< added to its configuration: `key=value`
        std::vector<std::string> properties{}; ///< added to the JVM: `-Dzookeeper.skipACL=yes`
        std::uint16_t number = 0;              ///< of an ensemble, with `server.N` in `lines`

        // Zero for a free port. The caller reserves any other port.
        std::uint16_t port = 0;
    };

    /// Returns when the server serves. The server ends with the thread that makes this object.
    explicit zookeeper_server(const server_binary& which = zookeeper())
        : zookeeper_server{which, options{}} {}
    zookeeper_server(server_binary, options);

    void start();
    void launch(); ///< like `start`, but returns when it answers, even if it does not serve yet
    void stop() { process_.stop(); }   ///< at once, like kill -9
    void restart();                    ///< same ports and data
    void restart_empty();              ///< same ports, without data: its numbers start again
    void pause() { process_.pause(); } ///< SIGSTOP: connections stay, no request is answered
    void resume() { process_.resume(); }
    bool is_up() const { return process_.is_up(); } ///< false after `stop` or `pause`

    /// Returns the answer to a command of four letters, for example "mntr". Empty if it does not
    /// listen.
    std::string say(const std::string& four_letters) const;
    /// Returns the answer to "mntr" without the `zk_` before each name: "packets_received",
    /// "znode_count", "ephemerals_count", "watch_count", "num_alive_connections",
    /// "outstanding_requests", …
    std::map<std::string, std::string> figures() const;
    /// Returns whether it serves requests: alone, or in an ensemble that has a leader.
    bool serves() const;
    /// Returns "standalone", "leader", "follower" or "observer"; empty if it does not serve.
    std::string mode() const;

    const std::filesystem::path& folder() const { return process_.folder(); }
    pid_t pid() const { return process_.pid(); }
    std::uint16_t port() const { return port_; }
    std::uint16_t tls_port() const { return tls_port_; }
    std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
    std::string url() const { return "zk://" + address(); }
    std::string tls_url() const; ///< a client must trust `certificates().file()`
    const authority& certificates() const { return authority_.value(); }
    const std::string& label() const { return which_.label; }

private:
    std::string ask_soon(const std::string& four_letters) const;
    std::string configuration() const;
    std::string tls_lines() const;
    std::vector<std::string> command_line() const;

    server_binary which_;
    options how_;
    std::vector<reserved_port> reserved_;
    std::uint16_t port_ = 0;
    std::uint16_t tls_port_ = 0;
    std::optional<authority> authority_;
    server_process process_;
};

} // namespace holdfast::support
