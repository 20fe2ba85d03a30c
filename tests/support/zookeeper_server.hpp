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

/// Returns HOLDFAST_ZOOKEEPER, or the server of the distribution's package. The path in the result
/// is a class path.
server_binary zookeeper();

/// Returns the downloaded servers from HOLDFAST_NEWER_ZOOKEEPERS ("zookeeper-3.9.4=<class
/// path>;…"). The result may be empty.
std::vector<server_binary> newer_zookeepers();

/// Returns the server of `zookeeper()`, then the downloaded servers.
std::vector<server_binary> zookeepers();

class zookeeper_server {
public:
    struct options {
        /// Listen on a second port for TLS, with a certificate of `authority`.
        bool tls = false;
        /// Value of `ssl.clientAuth`: none, want or need. It says whether the server asks for the
        /// client's certificate.
        std::string client_certificates = "none";

        /// Tick of the server. A session timeout has 2 to 20 ticks. Sessions expire only at whole
        /// ticks.
        std::chrono::milliseconds tick{200};
        /// Interval at which the server looks for empty containers. The server's own default is a
        /// minute.
        std::chrono::milliseconds container_check{60'000};
        /// If false, no write waits for the disk. If only the server process ends, no data are
        /// lost.
        bool forces_to_disk = false;

        std::vector<std::string> lines{}; ///< further lines of the configuration: `key=value`
        /// further properties of the JVM: `-Dzookeeper.skipACL=yes`
        std::vector<std::string> properties{};
        /// number in an ensemble; `lines` then has `server.N` for each server
        std::uint16_t number = 0;

        // Port; zero: a free port. If a port is given, the caller has reserved it.
        std::uint16_t port = 0;
    };

    /// Starts the server, and returns when it serves. The server ends with the thread that makes
    /// this object.
    explicit zookeeper_server(const server_binary& which = zookeeper())
        : zookeeper_server{which, options{}} {}
    zookeeper_server(server_binary, options);

    void start();
    void launch(); ///< starts the server; returns when it answers, even if it does not serve yet
    void stop() { process_.stop(); } ///< kills the server, like kill -9
    void restart();                  ///< restarts with the same ports and data
    /// restarts with the same ports, without data; node numbers begin again
    void restart_empty();
    void pause() { process_.pause(); } ///< sends SIGSTOP: connections stay open, but get no replies
    void resume() { process_.resume(); }
    /// whether the server runs; false after `stop` or `pause`
    bool is_up() const { return process_.is_up(); }

    /// Returns the reply to a four-letter word, for example "mntr". Returns an empty text if the
    /// server does not listen.
    std::string say(const std::string& four_letters) const;
    /// Returns the values in the reply to "mntr", by name without the prefix `zk_`:
    /// "packets_received", "znode_count", "ephemerals_count", "watch_count",
    /// "num_alive_connections", "outstanding_requests", …
    std::map<std::string, std::string> figures() const;
    /// Returns whether the server serves requests. It serves alone or in an ensemble with a leader.
    bool serves() const;
    /// Returns "standalone", "leader", "follower" or "observer". Returns an empty text if the
    /// server does not serve.
    std::string mode() const;

    const std::filesystem::path& folder() const { return process_.folder(); }
    pid_t pid() const { return process_.pid(); }
    std::uint16_t port() const { return port_; }
    std::uint16_t tls_port() const { return tls_port_; }
    std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
    std::string url() const { return "zk://" + address(); }
    std::string tls_url() const; ///< URL for TLS; the client must trust `certificates().file()`
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
