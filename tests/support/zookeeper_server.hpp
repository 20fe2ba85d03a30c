// SPDX-License-Identifier: Apache-2.0
// A real ZooKeeper server of a test's own: in a fresh folder, on ports that are free, gone when the
// object or the test program is.
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

/// That of the distribution's package, or HOLDFAST_ZOOKEEPER. The path of each is a class path.
server_binary zookeeper();

/// Where they were fetched: HOLDFAST_NEWER_ZOOKEEPERS ("zookeeper-3.9.4=<class path>;…"). There may
/// be none.
std::vector<server_binary> newer_zookeepers();

/// The first, and then the others.
std::vector<server_binary> zookeepers();

class zookeeper_server {
public:
    struct options {
        /// A second port, for TLS, with a certificate of `authority`.
        bool tls = false;
        /// The server asks for the client's certificate, as `ssl.clientAuth`: none, want, need.
        std::string client_certificates = "none";

        /// Of its clock: sessions are of 2 to 20 of these, and end at a whole one.
        std::chrono::milliseconds tick{200};
        /// How often it looks for empty containers; a minute, where nobody says so.
        std::chrono::milliseconds container_check{60'000};
        /// False: no write waits for the disk. Nothing is lost if only the program dies.
        bool forces_to_disk = false;

        std::vector<std::string> lines{};      ///< more of its configuration: `key=value`
        std::vector<std::string> properties{}; ///< more for the JVM: `-Dzookeeper.skipACL=yes`
        std::uint16_t number = 0;              ///< of an ensemble, with `server.N` in `lines`

        // Zero: one that is free. Others are reserved by who gives them.
        std::uint16_t port = 0;
    };

    /// Returns when it serves. The server dies with the thread that makes it.
    explicit zookeeper_server(const server_binary& which = zookeeper())
        : zookeeper_server{which, options{}} {}
    zookeeper_server(server_binary, options);

    void start();
    void launch(); ///< as `start`, and returns when it answers, though it may not serve yet
    void stop() { process_.stop(); }   ///< at once, as kill -9 does
    void restart();                    ///< on the same ports, with what was there
    void restart_empty();              ///< likewise, without data: its numbers begin anew
    void pause() { process_.pause(); } ///< SIGSTOP: connections stay, nothing is answered
    void resume() { process_.resume(); }
    bool is_up() const { return process_.is_up(); } ///< as far as we have done it

    /// Its answer to a command of four letters, as "mntr". Empty: it does not listen.
    std::string say(const std::string& four_letters) const;
    /// The answer to "mntr" without the `zk_` before each name: "packets_received", "znode_count",
    /// "ephemerals_count", "watch_count", "num_alive_connections", "outstanding_requests", …
    std::map<std::string, std::string> figures() const;
    /// It answers requests: alone, or as one of an ensemble that has a leader.
    bool serves() const;
    /// "standalone", "leader", "follower", "observer"; empty: it does not serve.
    std::string mode() const;

    const std::filesystem::path& folder() const { return process_.folder(); }
    pid_t pid() const { return process_.pid(); }
    std::uint16_t port() const { return port_; }
    std::uint16_t tls_port() const { return tls_port_; }
    std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
    std::string url() const { return "zk://" + address(); }
    std::string tls_url() const; ///< who opens it has to trust `certificates().file()`
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
