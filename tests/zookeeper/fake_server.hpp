// SPDX-License-Identifier: Apache-2.0
// A fake ZooKeeper server on the test's own thread. It grants sessions, answers pings, and has the
// data that the test sets. It can also send replies that no real server sends.
#pragma once

#include "zookeeper/protocol.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>

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

class fake_zookeeper {
public:
    using opcode = zookeeper::opcode;

    /// A request as it came, without its length.
    struct asked {
        std::int32_t number = 0;
        opcode what{};
        std::string body{};
    };

    /// One connection.
    class visit : public std::enable_shared_from_this<visit> {
    public:
        using socket = boost::asio::local::stream_protocol::socket;
        visit(socket, fake_zookeeper&);

        std::optional<zookeeper::greeting> greeting; ///< what it began with
        std::vector<asked> requests;                 ///< and what came behind, but for pings
        std::size_t pings = 0;
        bool open = true; ///< as far as this side can tell

        void send(const std::string& bytes); ///< as they are
        void close();

    private:
        friend class fake_zookeeper;
        void read();
        void take(std::string_view frame);

        socket socket_;
        fake_zookeeper& home_;
        std::string inbox_;
        std::array<char, 64 * 1024> buffer_;
    };

    explicit fake_zookeeper(boost::asio::io_context&);
    fake_zookeeper(const fake_zookeeper&) = delete;
    ~fake_zookeeper();

    const std::string& path() const { return path_; }

    void start();
    void stop(); ///< closes all connections, and takes no new ones
    void drop_connections();

    // How it behaves. It grants what it is asked for, and knows its sessions until they are taken
    // from here.
    std::vector<std::int64_t> sessions;
    std::optional<std::int32_t> grants_ms; ///< instead of what was asked for
    bool greets = true;                    ///< false: it accepts, and says nothing
    /// The frame to welcome with. Nothing: as else.
    std::function<std::optional<std::string>(const zookeeper::greeting&)> welcomes_with;
    bool answers = true;        ///< requests
    bool answers_writes = true; ///< false: and nothing behind one either
    std::int32_t login_error = 0;
    std::map<opcode, std::pair<std::int32_t, std::string>> says; ///< error and body; else "well"
    /// Asked first: the bytes to be sent. Nothing: as else.
    std::function<std::optional<std::string>(const asked&)> improvises;

    std::vector<std::shared_ptr<visit>> visits; ///< all there ever were
    visit& last() { return *visits.back(); }
    std::size_t count(opcode) const; ///< of the requests of all visits
    std::int64_t zxid = 100;         ///< grows with each request

    // Bytes to be sent.
    static std::string framed(std::string_view content);
    std::string answer(std::int32_t number, std::int32_t error = 0, std::string_view body = {});
    std::string event(zookeeper::node_event::kind, std::string_view path);
    static std::string stat(std::int64_t czxid = 7, std::int64_t owner = 0);
    static std::string text(std::string_view);
    static std::string texts(const std::vector<std::string>&);

private:
    void accept();
    std::string welcome(const zookeeper::greeting&);
    std::optional<std::string> answer_to(const asked&);
    std::string usual_body(const asked&) const;

    boost::asio::io_context& io_;
    std::filesystem::path folder_;
    std::string path_;
    boost::asio::local::stream_protocol::acceptor acceptor_;
    std::int64_t next_session_ = 0x1000;
};

} // namespace holdfast
