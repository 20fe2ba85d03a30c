// SPDX-License-Identifier: Apache-2.0
#include "tls_door.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace holdfast {
namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

/// One connection, and the one behind it to the server.
struct tls_door::visit : std::enable_shared_from_this<visit> {
    visit(tls_door& of, tcp::socket socket)
        : door{of}
        , client{std::move(socket)}
        , server{client.get_executor()}
        , peer{of.identity_} {}

    void send_to_client(const std::string& bytes) {
        error_code ignored; // whoever is gone does not hear it
        asio::write(client, asio::buffer(bytes), ignored);
    }
    void close() {
        error_code ignored;
        client.close(ignored);
        server.close(ignored);
    }

    void hear_client() {
        auto heard = [self = shared_from_this()](error_code failed, std::size_t size) {
            if (failed)
                return self->close();
            self->send_to_client(self->peer.take({self->from_client.data(), size}));
            error_code ignored;
            self->door.passed_on_ += asio::write(
                self->server, asio::buffer(std::exchange(self->peer.heard, {})), ignored);
            self->hear_client();
        };
        client.async_read_some(asio::buffer(from_client), heard);
    }
    void hear_server() {
        auto heard = [self = shared_from_this()](error_code failed, std::size_t size) {
            if (failed)
                return self->close();
            if (!self->said_goodbye)
                self->send_to_client(self->peer.say({self->from_server.data(), size}));
            self->hear_server();
        };
        server.async_read_some(asio::buffer(from_server), heard);
    }

    tls_door& door;
    tcp::socket client;
    asio::local::stream_protocol::socket server;
    support::tls_peer peer;
    bool said_goodbye = false;
    std::array<char, 16 * 1024> from_client, from_server;
};

tls_door::tls_door(asio::io_context& io, support::identity identity, std::string server_socket)
    : io_{io}
    , identity_{std::move(identity)}
    , server_socket_{std::move(server_socket)}
    , acceptor_{io, {asio::ip::address_v4::loopback(), 0}} {
    accept();
}

tls_door::~tls_door() {
    cut();
}

void tls_door::accept() {
    auto accepted = [this](error_code failed, tcp::socket socket) {
        if (failed)
            return;
        const auto& one = visits_.emplace_back(std::make_shared<visit>(*this, std::move(socket)));
        if (!silent) {
            one->server.connect({server_socket_});
            one->hear_client();
            one->hear_server();
        }
        accept();
    };
    acceptor_.async_accept(io_, accepted);
}

void tls_door::cut() {
    for (const auto& one : visits_)
        one->close();
}

void tls_door::say_goodbye() {
    only_say_goodbye();
    cut();
}

void tls_door::only_say_goodbye() {
    for (const auto& one : visits_)
        if (one->client.is_open() && one->peer.established() &&
            !std::exchange(one->said_goodbye, true))
            one->send_to_client(one->peer.say_goodbye());
}

std::vector<std::string> tls_door::names_asked_for() const {
    std::vector<std::string> all;
    for (const auto& one : visits_)
        all.push_back(one->peer.name_asked_for());
    return all;
}

std::size_t tls_door::goodbyes_heard() const {
    const auto heard = [](const auto& one) { return one->peer.heard_goodbye(); };
    return static_cast<std::size_t>(std::ranges::count_if(visits_, heard));
}

} // namespace holdfast
