// SPDX-License-Identifier: Apache-2.0
#include "support/cut_wire.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <cstdio>
#include <set>
#include <string_view>
#include <utility>

namespace holdfast::support {
namespace asio = boost::asio;
namespace {

using socket = asio::local::stream_protocol::socket;

struct connection {
    explicit connection(asio::io_context& io)
        : client{io}
        , server{io} {}
    void close() {
        boost::system::error_code ignored;
        client.close(ignored);
        server.close(ignored);
    }
    socket client, server;
    bool deaf = false; ///< what the server says next is the answer to lose
};
using shared_connection = std::shared_ptr<connection>;

} // namespace

class cut_wire::state : public std::enable_shared_from_this<state> {
public:
    state(asio::io_context& io, std::string server_socket)
        : io_{io}
        , server_socket_{std::move(server_socket)}
        , acceptor_{io, {path()}} {}

    std::string path() const { return server_socket_ + ".cut"; }
    asio::io_context& io() { return io_; }

    void start() { asio::co_spawn(io_, accept(shared_from_this()), asio::detached); }
    void lose_answer_to(std::string text) { text_ = std::move(text); }
    void stop() {
        boost::system::error_code ignored;
        acceptor_.close(ignored);
        for (const shared_connection& each : open_)
            each->close();
        std::remove(path().c_str());
    }

private:
    // Each ends with an exception when what it reads from is closed.
    static asio::awaitable<void> accept(std::shared_ptr<state> self);
    static asio::awaitable<void> carry_requests(std::shared_ptr<state> self, shared_connection);
    static asio::awaitable<void> carry_answers(std::shared_ptr<state> self, shared_connection);
    void pass_on(const shared_connection&);

    asio::io_context& io_;
    const std::string server_socket_;
    asio::local::stream_protocol::acceptor acceptor_;
    std::set<shared_connection> open_;
    std::string text_; // empty: lose nothing
};

asio::awaitable<void> cut_wire::state::accept(std::shared_ptr<state> self) {
    for (;;) {
        const auto both = std::make_shared<connection>(self->io_);
        co_await self->acceptor_.async_accept(both->client, asio::use_awaitable);
        boost::system::error_code nobody_there;
        both->server.connect({self->server_socket_}, nobody_there);
        if (nobody_there)
            both->close();
        else
            self->pass_on(both);
    }
}

void cut_wire::state::pass_on(const shared_connection& both) {
    open_.insert(both);
    const auto ended = [self = shared_from_this(), both](const std::exception_ptr&) {
        both->close();
        self->open_.erase(both);
    };
    asio::co_spawn(io_, carry_requests(shared_from_this(), both), ended);
    asio::co_spawn(io_, carry_answers(shared_from_this(), both), ended);
}

asio::awaitable<void> cut_wire::state::carry_requests(std::shared_ptr<state> self,
                                                      shared_connection both) {
    std::array<char, 64 * 1024> bytes;
    for (;;) {
        const std::size_t count =
            co_await both->client.async_read_some(asio::buffer(bytes), asio::use_awaitable);
        const std::string_view said{bytes.data(), count};
        if (!self->text_.empty() && said.find(self->text_) != said.npos) {
            self->text_.clear();
            both->deaf = true;
        }
        co_await asio::async_write(both->server, asio::buffer(bytes, count), asio::use_awaitable);
    }
}

asio::awaitable<void> cut_wire::state::carry_answers(std::shared_ptr<state>,
                                                     shared_connection both) {
    std::array<char, 64 * 1024> bytes;
    for (;;) {
        const std::size_t count =
            co_await both->server.async_read_some(asio::buffer(bytes), asio::use_awaitable);
        if (both->deaf)
            co_return;
        co_await asio::async_write(both->client, asio::buffer(bytes, count), asio::use_awaitable);
    }
}

cut_wire::cut_wire(const std::string& server_socket)
    : state_{std::make_shared<state>(loop_.io(), server_socket)} {
    asio::post(loop_.io(), [state = state_] { state->start(); });
}

cut_wire::~cut_wire() {
    asio::post(loop_.io(), [state = state_] { state->stop(); });
    loop_.finish();
}

std::string cut_wire::socket_path() const {
    return state_->path();
}

void cut_wire::lose_answer_to(std::string text) {
    asio::post(loop_.io(), [state = state_, text = std::move(text)]() mutable {
        state->lose_answer_to(std::move(text));
    });
}

} // namespace holdfast::support
