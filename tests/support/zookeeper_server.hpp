// SPDX-License-Identifier: Apache-2.0
// ZooKeeper servers for tests: a single server, an ensemble, and a session without a lock client.
#pragma once

#include "runtime/clock.hpp"
#include "support/loop_thread.hpp"
#include "support/partition.hpp"
#include "support/server_process.hpp"
#include "support/tls.hpp"
#include "zookeeper/session.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::support {

// ZooKeeper server of a single test. It has a new folder and free ports. It ends with the object or
// the test program.

/// Returns the server in HOLDFAST_ZOOKEEPER, or else in the distribution's package. Its path is a
/// Java class path.
server_binary zookeeper();

/// Returns the servers that HOLDFAST_NEWER_ZOOKEEPERS lists ("zookeeper-3.9.4=<class path>;…"). The
/// result may be empty.
std::vector<server_binary> newer_zookeepers();

/// Returns the server of `zookeeper()`, then those of `newer_zookeepers()`.
std::vector<server_binary> zookeepers();

class zookeeper_server {
public:
    struct options {
        /// Listen on a second port for TLS, with a certificate of `authority`.
        bool tls = false;
        /// Value of `ssl.clientAuth`: whether the server asks for the client's certificate (none,
        /// want or need).
        std::string client_certificates = "none";

        /// Time unit of the server (`tickTime`). A session timeout has 2 to 20 ticks, and sessions
        /// expire only at whole ticks.
        std::chrono::milliseconds tick{200};
        /// Interval at which the server deletes empty containers.
        std::chrono::milliseconds container_check{60'000};
        /// If false, no write waits for the disk. A kill of the server process still loses no data.
        bool forces_to_disk = false;

        std::vector<std::string> lines{}; ///< further lines of the configuration: `key=value`
        /// Further properties of the JVM, for example `-Dzookeeper.skipACL=yes`.
        std::vector<std::string> properties{};
        /// Number of this server in an ensemble. `lines` must then have a line `server.N` for each
        /// server.
        std::uint16_t number = 0;

        // Port; zero: a free port. If a port is given, the caller has reserved it.
        std::uint16_t port = 0;
    };

    /// Starts the server, and returns when it serves. The server ends when the thread that called
    /// the constructor ends.
    explicit zookeeper_server(const server_binary& which = zookeeper())
        : zookeeper_server{which, options{}} {}
    zookeeper_server(server_binary, options);

    void start();
    void launch(); ///< starts the server; returns when it answers, even if it does not serve yet
    void stop() { process_.stop(); } ///< kills the server, like kill -9
    void restart();                  ///< restarts with the same ports and data
    /// Restarts the server with the same ports and without data. Sequential nodes are numbered from
    /// 0 again.
    void restart_empty();
    void pause() { process_.pause(); } ///< sends SIGSTOP: connections stay open, but get no replies
    void resume() { process_.resume(); }
    /// Returns whether the server runs. False after `stop` or `pause`.
    bool is_up() const { return process_.is_up(); }

    /// Returns the reply to a four-letter word, for example "mntr", or an empty text if the server
    /// does not listen.
    std::string say(const std::string& four_letters) const;
    /// Returns the values in the reply to "mntr", by their names without the prefix `zk_`, for
    /// example "znode_count" or "watch_count".
    std::map<std::string, std::string> figures() const;
    /// Returns whether the server serves requests. In an ensemble, it must have a leader.
    bool serves() const;
    /// Returns "standalone", "leader", "follower" or "observer", or an empty text if the server
    /// does not serve.
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

/// ZooKeeper servers that elect a leader. The test can cut the network between the servers. Clients
/// still reach every server during a cut.
class zookeeper_ensemble {
public:
    struct options {
        std::size_t size = 3;
        std::chrono::milliseconds tick{200};
        /// Number of ticks for which a server that is cut off continues to answer.
        int sync_limit = 5;
        std::vector<std::string> lines{};      ///< further lines of each configuration
        std::vector<std::string> properties{}; ///< further properties of each JVM

        /// Returns options with which a server that is cut off continues to answer for six seconds.
        static options slow_to_notice() {
            return {.tick = std::chrono::milliseconds{400}, .sync_limit = 15};
        }
    };

    /// Starts the servers, and returns when all of them serve. Throws `server_unavailable`.
    explicit zookeeper_ensemble(const server_binary& which = zookeepers().back())
        : zookeeper_ensemble{which, options{}} {}
    zookeeper_ensemble(const server_binary&, const options&);

    std::size_t size() const { return servers_.size(); }
    zookeeper_server& operator[](std::size_t which) { return *servers_.at(which); }
    std::string url() const; ///< URL with the addresses of all servers

    /// Waits for a leader, and returns it. If the leader is cut off, there are two for some time;
    /// `leader_without(old leader)` returns the new one.
    zookeeper_server& leader() { return one_that("leader", nullptr); }
    zookeeper_server& leader_without(const zookeeper_server& out) {
        return one_that("leader", &out);
    }
    zookeeper_server& follower() { return one_that("follower", nullptr); }
    std::vector<zookeeper_server*> all_but(const zookeeper_server&);

    /// Cuts a server off from the others. No bytes pass, but no connection is closed.
    void cut_off(const zookeeper_server&);
    void heal();

    /// Makes all servers run, serve and reach each other again, for tests that share the servers
    /// (`restored_or_new`).
    void restore();

private:
    struct place {
        reserved_port client{}, quorum{}, election{};
    };

    struct election_way {
        std::size_t who, whom;
        std::uint16_t port;
    };

    zookeeper_server& one_that(const std::string& mode, const zookeeper_server* not_this);
    void translate();
    std::vector<std::string> lines_for(std::size_t which, const options&);
    std::string as_seen_by(std::size_t who, std::size_t whom);
    void wait_until_all_serve();

    partition ways_;
    std::vector<place> places_;
    std::vector<election_way> elections_;
    std::vector<std::unique_ptr<zookeeper_server>> servers_;
};

// A session with which a test changes nodes, as an operator or another program does.

/// ZooKeeper session with blocking calls. Thread safety: one caller at a time.
class zookeeper_hand {
    template <typename Work>
    auto done(Work work) {
        auto story = work(*session_);
        return asio::co_spawn(loop_.io(), std::move(story), asio::use_future).get();
    }

public:
    explicit zookeeper_hand(std::uint16_t port) {
        zookeeper::options how;
        how.servers = {{"127.0.0.1", port}};
        how.session_timeout = std::chrono::seconds{20};
        how.command_timeout = std::chrono::seconds{20};
        session_ = zookeeper::make_session(zookeeper::checked(std::move(how)), context());
    }
    zookeeper_hand(const zookeeper_hand&) = delete;
    ~zookeeper_hand() {
        (void)done([](zookeeper::session& s) -> asio::awaitable<bool> {
            co_await s.depart();
            s.close();
            co_return true;
        });
        loop_.finish();
    }

    zookeeper::session::creation create(const std::string& path, zookeeper::node_mode mode,
                                        const std::string& data = {}) {
        return done([&](zookeeper::session& s) -> asio::awaitable<zookeeper::session::creation> {
            zookeeper::new_node wanted{path, data, mode};
            co_return co_await s.create(std::move(wanted));
        });
    }
    zookeeper::listing list(const std::string& path) {
        return done([&](zookeeper::session& s) -> asio::awaitable<zookeeper::listing> {
            co_await s.sync(path);
            co_return co_await s.list(path);
        });
    }
    std::optional<zookeeper::node_data> get(const std::string& path) {
        return done(
            [&](zookeeper::session& s) -> asio::awaitable<std::optional<zookeeper::node_data>> {
                co_return co_await s.get(path);
            });
    }
    bool remove(const std::string& path) {
        return done([&](zookeeper::session& s) -> asio::awaitable<bool> {
            const auto got = co_await s.remove(path);
            co_return got == zookeeper::session::removal::removed;
        });
    }
    /// Creates a node, and the missing nodes above it.
    std::string make(const std::string& path, zookeeper::node_mode mode,
                     const std::string& data = {}) {
        zookeeper::session::creation got = create(path, mode, data);
        if (got.why == zookeeper::session::refusal::no_parent) {
            make(path.substr(0, path.rfind('/')), zookeeper::node_mode::container);
            got = create(path, mode, data);
        }
        return got.node.path;
    }
    /// Deletes a node and all nodes below it.
    void erase(const std::string& path) {
        for (const std::string& each : list(path).value_or(std::vector<std::string>{}))
            erase(path + '/' + each);
        remove(path);
    }

private:
    store_context context() {
        return {.executor = loop_.io().get_executor(),
                .time = time_,
                .random = [] { return std::uint64_t{0}; },
                .client = {},
                .label = {},
                .poll_bound = std::chrono::seconds{5},
                .tell = [](const event&) {}};
    }
    loop_thread loop_;
    runtime::real_clock time_{loop_.io().get_executor()};
    std::unique_ptr<zookeeper::session> session_;
};

} // namespace holdfast::support
