// SPDX-License-Identifier: Apache-2.0
#include "redis/connection.hpp"

#include "redis/address.hpp"
#include "redis/look_up.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <utility>

#include <sys/un.h>

namespace holdfast::redis {

connection::connection(const asio::any_io_executor& executor, clock& time, const options& how)
    : time_{time}
    , how_{how}
    , look_up_alarm_{time.make_alarm()}
    , socket_{executor}
    , reader_{how.reply_bytes_max} {}

asio::awaitable<void> connection::dial(time_point give_up_at) {
    const std::vector<stream_endpoint> peers = co_await find_server();
    occupied_with("connecting");
    error_code failed = asio::error::host_not_found;
    for (std::size_t tried = 0; tried < peers.size(); ++tried) {
        // An address that does not answer must not use up the time of those behind it.
        const auto untried = static_cast<duration::rep>(peers.size() - tried);
        const time_point now = time_.now();
        failed = co_await connect_to(peers[tried], now + (give_up_at - now) / untried);
        throw_if_cut();
        if (!failed)
            co_return;
    }
    throw failure{errc::unreachable, failed.message()};
}

asio::awaitable<std::vector<stream_endpoint>> connection::find_server() {
    std::vector<stream_endpoint> found;
    if (!how_.unix_socket.empty()) {
        if (how_.unix_socket.size() >= sizeof(sockaddr_un::sun_path))
            throw failure{errc::unreachable, "the path is too long for a socket"};
        found.emplace_back(asio::local::stream_protocol::endpoint{how_.unix_socket});
        co_return found;
    }
    occupied_with("looking up its address");
    auto given_up = [this] { return is_cut(); };
    const auto hosts =
        co_await look_up(socket_.get_executor(), how_.host, how_.port, *look_up_alarm_, given_up);
    throw_if_cut();
    found.assign(hosts.begin(), hosts.end());
    co_return found;
}

asio::awaitable<error_code> connection::connect_to(stream_endpoint peer, time_point give_up_at) {
    if (const error_code failed = open_socket(socket_, peer, how_))
        co_return failed;
    bool late = false;
    auto give_up = [&late, this] {
        late = true;
        hang_up();
    };
    const time_limit limit{socket_.get_executor(), time_, give_up_at, give_up};
    error_code failed;
    co_await socket_.async_connect(peer, asio::redirect_error(asio::use_awaitable, failed));
    if (failed)
        hang_up();
    co_return late ? asio::error::timed_out : failed;
}

bool connection::send() {
    std::swap(outbox_, sending_);
    outbox_.clear();
    error_code failed;
    sent_ = socket_.write_some(asio::buffer(sending_), failed);
    if (failed && failed != asio::error::would_block)
        went_deaf(failed);
    return sent_ == sending_.size();
}

asio::awaitable<void> connection::send_rest() {
    const auto rest = asio::buffer(sending_) + sent_;
    error_code failed;
    co_await asio::async_write(socket_, rest, asio::redirect_error(asio::use_awaitable, failed));
    sent_ = sending_.size();
    if (failed)
        went_deaf(failed);
}

// A server that does not want us says why, and hangs up before it has read what we want.
void connection::went_deaf(error_code why) {
    deaf_ = why;
    sent_ = sending_.size();
    auto enough = [this] { cut({errc::unreachable, deaf_.message()}); };
    last_words_.emplace(socket_.get_executor(), time_, time_.now() + how_.command_timeout, enough);
}

asio::awaitable<void> connection::receive() {
    throw_if_cut();
    error_code failed;
    const std::size_t size = co_await socket_.async_read_some(
        asio::buffer(inbox_), asio::redirect_error(asio::use_awaitable, failed));
    if (failed == asio::error::eof)
        cut({errc::unreachable, deaf_ ? deaf_.message() : "closed by the server"});
    else if (failed)
        cut({errc::unreachable, failed.message()});
    throw_if_cut();
    reader_.feed({inbox_.data(), size});
}

asio::awaitable<reply> connection::answer() {
    for (;;) {
        if (reply* const come = next())
            co_return std::move(*come);
        co_await receive();
    }
}

void connection::cut(failure why) {
    if (cut_)
        return;
    cut_ = std::move(why);
    last_words_.reset();
    hang_up();
    look_up_alarm_->ring();
}

void connection::hang_up() {
    error_code ignored;
    socket_.close(ignored);
}

void connection::throw_if_cut() const {
    if (cut_)
        throw failure{*cut_};
}

} // namespace holdfast::redis
