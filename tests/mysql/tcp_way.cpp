// SPDX-License-Identifier: Apache-2.0
#include "tcp_way.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <list>
#include <optional>
#include <utility>

namespace holdfast {
namespace {

namespace net_io = boost::asio;
using net_io::ip::tcp;
using socket_pair = std::pair<tcp::socket, tcp::socket>;

net_io::ip::address here() {
    return net_io::ip::address_v4::loopback();
}

} // namespace

class tcp_way::state : public std::enable_shared_from_this<state> {
public:
    state(net_io::io_context& io, std::uint16_t to)
        : io_{io}
        , to_{here(), to}
        , door_{io, {here(), 0}} {}

    std::uint16_t port() const { return door_.local_endpoint().port(); }

    void accept() {
        door_.async_accept(
            [self = shared_from_this()](boost::system::error_code failed, tcp::socket came) {
                if (failed)
                    return;
                auto both = std::make_shared<socket_pair>(std::move(came), tcp::socket{self->io_});
                self->all_.push_back(both);
                if (!self->greeting_.empty())
                    net_io::write(both->first, net_io::buffer(self->greeting_), failed);
                else
                    self->connect(both);
                self->accept();
            });
    }

    void lose_after(std::size_t most) { most_ = most; }
    void greet_with(std::string bytes) { greeting_ = std::move(bytes); }
    void answer_with(std::string bytes) { instead_ = std::move(bytes); }
    void split(std::size_t most) { split_ = most; }

    void reset_all() {
        boost::system::error_code ignored;
        for (const auto& each : all_)
            if (each->first.is_open()) {
                each->first.set_option(net_io::socket_base::linger{true, 0}, ignored);
                each->first.close(ignored);
                each->second.close(ignored);
            }
        all_.clear();
    }

    void stop() {
        boost::system::error_code ignored;
        door_.close(ignored);
        reset_all();
    }

private:
    static constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

    void connect(const std::shared_ptr<socket_pair>& both) {
        boost::system::error_code ignored;
        both->second.connect(to_, ignored);
        auto self = shared_from_this();
        net_io::co_spawn(io_, ask(self, both, most_), net_io::detached);
        net_io::co_spawn(io_, answer(self, both), net_io::detached);
    }

    static net_io::awaitable<void> answer(std::shared_ptr<state> self,
                                          std::shared_ptr<socket_pair> both) {
        std::array<char, 16384> some;
        boost::system::error_code failed;
        auto token = net_io::redirect_error(net_io::use_awaitable, failed);
        while (!failed && self->split_ != 0) {
            const std::size_t got =
                co_await both->second.async_read_some(net_io::buffer(some), token);
            for (std::size_t sent = 0; sent < got && !failed && self->split_ != 0;) {
                const bool whole = self->split_ == unlimited;
                auto part = net_io::buffer(some.data() + sent, whole ? got : 1);
                sent += co_await net_io::async_write(both->first, part, token);
                self->split_ -= whole ? 0 : 1;
            }
        }
        boost::system::error_code ignored;
        both->first.shutdown(tcp::socket::shutdown_send, ignored);
    }

    static net_io::awaitable<void> ask(std::shared_ptr<state> self,
                                       std::shared_ptr<socket_pair> both, std::size_t most) {
        tcp::socket& from = both->first;
        tcp::socket& to = both->second;
        std::array<char, 16384> some;
        boost::system::error_code failed;
        auto token = net_io::redirect_error(net_io::use_awaitable, failed);
        while (!failed) {
            const std::size_t got = co_await from.async_read_some(net_io::buffer(some), token);
            if (!failed && self->instead_) {
                const std::string lie = std::exchange(*self->instead_, {});
                co_await net_io::async_write(from, net_io::buffer(lie), token);
                continue;
            }
            const std::size_t passed = std::min(got, most);
            if (most != unlimited)
                most -= passed;
            if (!failed && passed > 0)
                co_await net_io::async_write(to, net_io::buffer(some, passed), token);
        }
        boost::system::error_code ignored;
        to.shutdown(tcp::socket::shutdown_send, ignored);
    }

    net_io::io_context& io_;
    const tcp::endpoint to_;
    tcp::acceptor door_;
    std::list<std::shared_ptr<socket_pair>> all_;
    std::size_t most_ = unlimited;
    std::size_t split_ = unlimited;
    std::string greeting_;
    std::optional<std::string> instead_;
};

tcp_way::tcp_way(std::uint16_t server_port)
    : state_{std::make_shared<state>(loop_.io(), server_port)} {
    net_io::post(loop_.io(), [to = state_] { to->accept(); });
}

tcp_way::~tcp_way() {
    net_io::post(loop_.io(), [to = state_] { to->stop(); });
    loop_.finish();
}

std::uint16_t tcp_way::port() const {
    return state_->port();
}

void tcp_way::lose_after(std::size_t client_bytes) {
    net_io::post(loop_.io(),
                 net_io::use_future([to = state_, client_bytes] { to->lose_after(client_bytes); }))
        .get();
}

void tcp_way::greet_with(std::string bytes) {
    net_io::post(loop_.io(), net_io::use_future([to = state_, bytes] { to->greet_with(bytes); }))
        .get();
}

void tcp_way::answer_with(std::string bytes) {
    net_io::post(loop_.io(), net_io::use_future([to = state_, bytes] { to->answer_with(bytes); }))
        .get();
}

void tcp_way::split(std::size_t most) {
    net_io::post(loop_.io(), net_io::use_future([to = state_, most] { to->split(most); })).get();
}

void tcp_way::reset_all() {
    net_io::post(loop_.io(), net_io::use_future([to = state_] { to->reset_all(); })).get();
}

} // namespace holdfast
