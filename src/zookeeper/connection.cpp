// SPDX-License-Identifier: Apache-2.0
#include "zookeeper/connection.hpp"

#include "net/address.hpp"
#include "net/look_up.hpp"
#include "net/time_limit.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <utility>

#include <sys/un.h>

namespace holdfast::zookeeper {
namespace {

/// Servers hang up on whom they do not serve, and say nothing.
constexpr const char* hung_up = "closed by the server";

/// More than any answer of words that is of use.
constexpr std::size_t words_most = 16 * 1024;

} // namespace

destination::destination(server_address at, const std::optional<tls_options>& over)
    : where{std::move(at)}
    , address{net::address_of({}, where.host, where.port)}
    , tls{over ? std::make_unique<net::tls_context>(*over, where.host) : nullptr} {}

connection::connection(const store_context& home, const options& how)
    : home_{home}
    , how_{how}
    , look_up_alarm_{home_.time.make_alarm()}
    , socket_{home_.executor}
    , reader_{how.reply_bytes_max} {}

asio::awaitable<void> connection::dial(const destination& to, time_point give_up_at) {
    const std::vector<net::stream_endpoint> peers = co_await find(to);
    occupied_with("connecting");
    error_code failed = asio::error::host_not_found;
    for (std::size_t tried = 0; tried < peers.size(); ++tried) {
        // An address that does not answer must not use up the time of those behind it.
        const auto untried = static_cast<duration::rep>(peers.size() - tried);
        const time_point now = home_.time.now();
        failed = co_await connect_to(peers[tried], now + (give_up_at - now) / untried);
        throw_if_cut();
        if (!failed)
            co_return co_await begin_tls(to);
    }
    throw net::failure{errc::unreachable, failed.message()};
}

asio::awaitable<std::vector<net::stream_endpoint>> connection::find(const destination& to) {
    const std::string& host = to.where.host;
    if (host.starts_with('/')) { // so several servers may be in one process of tests
        if (host.size() >= sizeof(sockaddr_un::sun_path))
            throw net::failure{errc::unreachable, "the path is too long for a socket"};
        const net::stream_endpoint local = asio::local::stream_protocol::endpoint{host};
        co_return std::vector{local};
    }
    occupied_with("looking up its address");
    auto given_up = [this] { return is_cut(); };
    const auto hosts = co_await net::look_up(socket_.get_executor(), host, to.where.port,
                                             *look_up_alarm_, given_up);
    throw_if_cut();
    co_return std::vector<net::stream_endpoint>(hosts.begin(), hosts.end());
}

asio::awaitable<error_code> connection::connect_to(net::stream_endpoint peer,
                                                   time_point give_up_at) {
    if (const error_code failed = net::open_socket(socket_, peer, how_.command_timeout))
        co_return failed;
    bool late = false;
    auto give_up = [&late, this] {
        late = true;
        hang_up();
    };
    const net::time_limit limit{home_, give_up_at, give_up};
    error_code failed;
    co_await socket_.async_connect(peer, asio::redirect_error(asio::use_awaitable, failed));
    if (failed)
        hang_up();
    co_return late ? asio::error::timed_out : failed;
}

asio::awaitable<void> connection::begin_tls(const destination& to) {
    if (!to.tls)
        co_return;
    occupied_with("waiting for its part of the TLS handshake; is it a port for TLS?");
    session_ = to.tls->begin();
    while (!session_->established()) {
        if (!send())
            co_await send_rest();
        co_await receive();
    }
}

/// From the outbox to what is sent.
bool connection::pack() {
    bool well = true;
    if (session_) {
        sending_.clear();
        well = session_->seal(outbox_, sending_);
    } else {
        std::swap(outbox_, sending_);
    }
    outbox_.clear();
    return well;
}

bool connection::send() {
    if (!pack()) {
        cut({store_errc::tls_failed, "TLS: what is to be sent could not be sealed"});
        return true;
    }
    error_code failed;
    sent_ = socket_.write_some(asio::buffer(sending_), failed);
    if (failed && failed != asio::error::would_block)
        cut({errc::unreachable, failed.message()});
    return is_cut() || sent_ == sending_.size();
}

asio::awaitable<void> connection::send_rest() {
    const auto rest = asio::buffer(sending_) + sent_;
    error_code failed;
    co_await asio::async_write(socket_, rest, asio::redirect_error(asio::use_awaitable, failed));
    sent_ = sending_.size();
    if (failed)
        cut({errc::unreachable, failed.message()});
}

asio::awaitable<void> connection::receive() {
    if (session_ && session_->ended())
        cut({errc::unreachable, hung_up});
    throw_if_cut();
    error_code failed;
    const std::size_t size = co_await socket_.async_read_some(
        asio::buffer(inbox_), asio::redirect_error(asio::use_awaitable, failed));
    if (failed)
        cut({errc::unreachable, end_in_words(failed)});
    throw_if_cut();
    const std::string_view received{inbox_.data(), size};
    if (!std::exchange(heard_, true) && !session_ && net::tls_session::is_tls(received))
        throw net::failure{store_errc::tls_failed, "what answers there speaks TLS; set tls=yes"};
    take(session_ ? session_->open(received) : received);
}

void connection::take(std::string_view received) {
    if (!words_)
        reader_.feed(received);
    else if (words_->size() < words_most)
        words_->append(received);
}

std::optional<std::string_view> connection::next() {
    return cut_ ? std::nullopt : reader_.next();
}

std::string connection::end_in_words(error_code why) const {
    if (why != asio::error::eof)
        return why.message();
    if (session_)
        return "cut off (no close_notify)";
    if (heard_)
        return hung_up;
    return std::string{hung_up} +
           " before it said a word; it may serve nobody now, or want TLS (tls=yes)";
}

asio::awaitable<std::string> connection::frame() {
    for (;;) {
        if (const auto come = next())
            co_return std::string{*come};
        co_await receive();
    }
}

asio::awaitable<std::string> connection::words() {
    words_.emplace();
    try {
        for (;;)
            co_await receive();
    } catch (const net::failure&) {
        if (words_->empty())
            throw;
    }
    co_return std::move(*words_);
}

void connection::cut(net::failure why) {
    if (cut_)
        return;
    cut_ = std::move(why);
    if (session_)
        take_leave();
    hang_up();
    look_up_alarm_->ring();
}

/// Tells the server what goes at once, and waits for nothing.
void connection::take_leave() {
    if (sent_ != sending_.size())
        return; // it would come in the middle of something else
    sending_.clear();
    session_->say_goodbye(sending_);
    error_code ignored;
    socket_.write_some(asio::buffer(sending_), ignored);
    sent_ = sending_.size();
}

void connection::hang_up() {
    error_code ignored;
    socket_.close(ignored);
}

void connection::throw_if_cut() const {
    if (cut_)
        throw net::failure{*cut_};
}

} // namespace holdfast::zookeeper
