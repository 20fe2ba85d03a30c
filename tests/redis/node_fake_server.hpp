// SPDX-License-Identifier: Apache-2.0
// A server in the test's own thread that says what the test tells it to say, or nothing, at the
// moment the test wants.
#pragma once

#include "support/reserved_port.hpp"

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace holdfast {

class fake_server {
public:
    using words = std::vector<std::string>;
    using stream = boost::asio::generic::stream_protocol;

    /// One connection.
    class session : public std::enable_shared_from_this<session> {
    public:
        session(stream::socket, fake_server&);

        /// What it was asked after the set-up, in order.
        std::vector<words> asked;
        std::size_t bursts = 0; ///< readings it took to hear that
        bool open = true;       ///< as far as this side can tell

        void send(const std::string& bytes);
        void close();
        void hear_again();     ///< after being deaf
        void refuse_to_hear(); ///< what is written to it from now on fails; the connection stays
        void release(std::size_t bytes = std::string::npos); ///< of what was held back
        bool holds_back = false;                             ///< answers wait for release()
        std::string held;
        bool deaf = false;  ///< reads nothing any more
        bool muted = false; ///< something was not answered, and so nothing behind it is

    private:
        friend class fake_server;
        void read();
        void take_requests();
        bool is_set_up(const words&);
        static bool is_probe(const words&);
        void note_probe();
        std::optional<words> next_request();

        stream::socket socket_;
        fake_server& home_;
        bool told_role_ = false;
        std::string inbox_;
        std::array<char, 64 * 1024> buffer_;
    };

    /// At the path of a socket; or over TCP.
    explicit fake_server(boost::asio::io_context&);
    struct place {
        std::string address = "127.0.0.1";
        std::uint16_t port = 0; ///< zero: one that is free
    };
    fake_server(boost::asio::io_context&, place);
    fake_server(const fake_server&) = delete;
    ~fake_server();

    const std::string& path() const { return path_; }
    std::uint16_t port() const { return place_.value().port; }

    /// The answer to a command, by its first word. A command that is not here is not answered, and
    /// then neither is what comes behind it: the test sends what it likes.
    std::map<std::string, std::string> says;

    /// Asked first; nothing: what `says` says.
    std::function<std::optional<std::string>(const words&)> improvises;

    std::vector<std::shared_ptr<session>> sessions; ///< all there ever were, but these:
    std::vector<std::shared_ptr<session>> probes;   ///< by which somebody asked whether it answers
    bool answers_probes = false;
    session& last() { return *sessions.back(); }
    /// What it tells of itself in INFO.
    std::string run_id = "run-1", replication_id = "history-1";
    std::string node_id; ///< in its cluster; empty: CLUSTER MYID is not known
    long uptime_s = 1000;
    std::string infos() const { return info("server") + info("replication"); }

    std::size_t set_up = 0; ///< commands of the set-up that were heard

    void start();
    void stop(); ///< closes all connections, and takes no new ones
    void drop_connections();

    std::size_t count_asked(const std::string& first_word) const;

private:
    fake_server(boost::asio::io_context&, std::optional<place>);
    void accept();
    std::string info(const std::string& section) const;
    std::optional<std::string> answer_to(const words&) const;

    stream::endpoint endpoint() const;

    boost::asio::io_context& io_;
    std::filesystem::path folder_;
    std::string path_;
    std::optional<place> place_; // none: its path
    std::optional<support::reserved_port> reserved_;
    boost::asio::basic_socket_acceptor<stream> acceptor_;
};

} // namespace holdfast
