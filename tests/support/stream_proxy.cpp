// SPDX-License-Identifier: Apache-2.0
#include "support/stream_proxy.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <future>
#include <optional>
#include <set>
#include <string_view>
#include <type_traits>
#include <utility>

namespace holdfast::support {
namespace asio = boost::asio;
namespace {

using protocol = asio::generic::stream_protocol;
using socket = protocol::socket;

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
    std::string held;           ///< requests that hold_back() keeps back
    bool is_subscriber = false; ///< whether the connection has subscribed to a channel
    bool is_lost = false;       ///< whether the connection no longer carries bytes
    bool is_deaf = false;       ///< whether the next reply of the server will be lost
};
using shared_connection = std::shared_ptr<connection>;

} // namespace

class stream_proxy::state : public std::enable_shared_from_this<state> {
public:
    state(asio::io_context& io, std::string path, protocol::endpoint server)
        : io_{io}
        , path_{std::move(path)}
        , server_{std::move(server)}
        , acceptor_{io, {path_}} {}

    const std::string& path() const { return path_; }

    void start() { asio::co_spawn(io_, accept(shared_from_this()), asio::detached); }
    void stop() {
        boost::system::error_code ignored;
        acceptor_.close(ignored);
        for (const shared_connection& each : open_)
            each->close();
        std::remove(path_.c_str());
    }

    void lose(bool subscribers_only) {
        for (const shared_connection& each : open_)
            each->is_lost = each->is_lost || !subscribers_only || each->is_subscriber;
    }
    void let_go() {
        holds_back = false;
        for (const shared_connection& each : open_) {
            boost::system::error_code nobody_there;
            asio::write(each->server, asio::buffer(std::exchange(each->held, {})), nobody_there);
        }
    }
    std::size_t bytes_held() const {
        std::size_t sum = 0;
        for (const shared_connection& each : open_)
            sum += each->held.size();
        return sum;
    }

    struct cut {
        way where;
        std::size_t bytes_left;
    };
    std::optional<cut> cut_to_come;
    /// Lose the reply to the next request that contains this text, if it is not empty.
    std::string answer_to_lose;
    bool is_silent = false;
    bool holds_back = false;

private:
    // Coroutines that pass bytes on. Each ends with an exception when the socket that it reads from
    // is closed.
    static asio::awaitable<void> accept(std::shared_ptr<state> self);
    static asio::awaitable<void> carry(std::shared_ptr<state> self, shared_connection, way);
    void pass_on(const shared_connection&);
    void listen(connection&, std::string_view request);
    std::size_t bytes_before_cut(way, std::size_t);

    asio::io_context& io_;
    const std::string path_;
    const protocol::endpoint server_;
    asio::local::stream_protocol::acceptor acceptor_;
    std::set<shared_connection> open_;
};

asio::awaitable<void> stream_proxy::state::accept(std::shared_ptr<state> self) {
    for (;;) {
        const auto both = std::make_shared<connection>(self->io_);
        both->client = co_await self->acceptor_.async_accept(asio::use_awaitable);
        boost::system::error_code nobody_there;
        both->server.connect(self->server_, nobody_there);
        both->is_lost = self->is_silent;
        if (nobody_there && !self->is_silent)
            both->close();
        else
            self->pass_on(both);
    }
}

void stream_proxy::state::pass_on(const shared_connection& both) {
    open_.insert(both);
    for (const way each : {way::requests, way::answers})
        asio::co_spawn(io_, carry(shared_from_this(), both, each),
                       [self = shared_from_this(), both](const std::exception_ptr&) {
                           // Deliver held requests, even if the client has closed the connection.
                           if (!both->held.empty())
                               return;
                           both->close();
                           self->open_.erase(both);
                       });
}

void stream_proxy::state::listen(connection& from, std::string_view request) {
    from.is_subscriber = from.is_subscriber || request.find("SUBSCRIBE") != request.npos;
    if (answer_to_lose.empty() || request.find(answer_to_lose) == request.npos)
        return;
    answer_to_lose.clear();
    from.is_deaf = true;
}

std::size_t stream_proxy::state::bytes_before_cut(way where, std::size_t count) {
    if (!cut_to_come || cut_to_come->where != where)
        return count;
    const std::size_t passed = std::min(count, cut_to_come->bytes_left);
    cut_to_come->bytes_left -= passed;
    return passed;
}

asio::awaitable<void> stream_proxy::state::carry(std::shared_ptr<state> self,
                                                 shared_connection both, way where) {
    const bool request = where == way::requests;
    socket& from = request ? both->client : both->server;
    socket& to = request ? both->server : both->client;
    std::array<char, 64 * 1024> bytes;
    for (;;) {
        const std::size_t count =
            co_await from.async_read_some(asio::buffer(bytes), asio::use_awaitable);
        const std::string_view said{bytes.data(), count};
        if (request)
            self->listen(*both, said);
        else if (both->is_deaf)
            co_return;
        if (both->is_lost)
            continue;
        if (request && self->holds_back) {
            both->held.append(said);
            continue;
        }
        const std::size_t passed = self->bytes_before_cut(where, count);
        // Reset it before the write below: during the write, another connection must not be cut,
        // too.
        const bool ends_here = self->cut_to_come && self->cut_to_come->where == where &&
                               self->cut_to_come->bytes_left == 0;
        if (ends_here)
            self->cut_to_come.reset();
        co_await asio::async_write(to, asio::buffer(bytes, passed), asio::use_awaitable);
        if (ends_here)
            co_return;
    }
}

stream_proxy::stream_proxy(const std::string& server_socket)
    : state_{std::make_shared<state>(
          loop_.io(), server_socket + ".proxy",
          protocol::endpoint{asio::local::stream_protocol::endpoint{server_socket}})} {
    asio::post(loop_.io(), [state = state_] { state->start(); });
}

stream_proxy::stream_proxy(const std::string& path, std::uint16_t server_port)
    : state_{std::make_shared<state>(loop_.io(), path,
                                     protocol::endpoint{asio::ip::tcp::endpoint{
                                         asio::ip::address_v4::loopback(), server_port}})} {
    asio::post(loop_.io(), [state = state_] { state->start(); });
}

stream_proxy::~stream_proxy() {
    asio::post(loop_.io(), [state = state_] { state->stop(); });
    loop_.finish();
}

template <typename Work>
auto stream_proxy::ask(Work work) const {
    std::promise<decltype(work(*state_))> done;
    asio::post(loop_.io(), [&] {
        if constexpr (std::is_void_v<decltype(work(*state_))>) {
            work(*state_);
            done.set_value();
        } else {
            done.set_value(work(*state_));
        }
    });
    return done.get_future().get();
}

std::string stream_proxy::socket_path() const {
    return state_->path();
}
void stream_proxy::cut_after(way where, std::size_t bytes) {
    ask([&](state& s) { s.cut_to_come = state::cut{where, bytes}; });
}
bool stream_proxy::is_cut() const {
    return ask([](state& s) { return !s.cut_to_come; });
}
void stream_proxy::lose_answer_to(std::string text) {
    ask([&](state& s) { s.answer_to_lose = std::move(text); });
}
void stream_proxy::lose_all() {
    ask([](state& s) { s.lose(false); });
}
void stream_proxy::lose_subscribers() {
    ask([](state& s) { s.lose(true); });
}
void stream_proxy::be_silent(bool silent) {
    ask([&](state& s) { s.is_silent = silent; });
}
void stream_proxy::hold_back() {
    ask([](state& s) { s.holds_back = true; });
}
void stream_proxy::let_go() {
    ask([](state& s) { s.let_go(); });
}
std::size_t stream_proxy::bytes_held() const {
    return ask([](state& s) { return s.bytes_held(); });
}

} // namespace holdfast::support
