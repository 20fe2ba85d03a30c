// SPDX-License-Identifier: Apache-2.0
#include "net/byte_stream.hpp"

#include "net/deadlines.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <cerrno>
#include <exception>
#include <utility>

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace holdfast::net {

byte_stream::byte_stream(const store_context& home, duration timeout, const char* to_have_tls)
    : home_{home}
    , timeout_{timeout}
    , to_have_tls_{to_have_tls}
    , look_up_alarm_{home_.time.make_alarm()}
    , socket_{home_.executor} {}

asio::awaitable<void> byte_stream::dial(std::shared_ptr<const destination> to,
                                        time_point give_up_at) {
    to_ = std::move(to);
    const std::vector<stream_endpoint> peers = co_await find_server();
    occupied_with("connecting");
    error_code failed = asio::error::host_not_found;
    for (std::size_t tried = 0; tried < peers.size(); ++tried) {
        // Divide the remaining time among the addresses that were not tried yet, because any of
        // them may not reply.
        const auto untried = static_cast<duration::rep>(peers.size() - tried);
        const time_point now = home_.time.now();
        failed = co_await connect_to(peers[tried], now + (give_up_at - now) / untried);
        throw_if_cut();
        peer_ = peers[tried];
        if (!failed)
            co_return co_await begin_tls();
    }
    throw failure{errc::unreachable, failed.message()};
}

asio::awaitable<void> byte_stream::begin_tls() {
    if (!to_->tls)
        co_return;
    occupied_with("waiting for its part of the TLS handshake; is it a port for TLS?");
    session_ = to_->tls->begin();
    while (!session_->established()) {
        if (!send())
            co_await send_rest();
        co_await receive();
    }
}

asio::awaitable<std::vector<stream_endpoint>> byte_stream::find_server() {
    std::vector<stream_endpoint> found;
    if (!to_->unix_socket.empty()) {
        if (to_->unix_socket.size() >= sizeof(sockaddr_un::sun_path))
            throw failure{errc::unreachable, "the path is too long for a socket"};
        found.emplace_back(asio::local::stream_protocol::endpoint{to_->unix_socket});
        co_return found;
    }
    occupied_with("looking up its address");
    auto given_up = [this] { return is_cut(); };
    const auto hosts =
        co_await look_up(socket_.get_executor(), to_->host, to_->port, *look_up_alarm_, given_up);
    throw_if_cut();
    found.assign(hosts.begin(), hosts.end());
    co_return found;
}

asio::awaitable<error_code> byte_stream::connect_to(stream_endpoint peer, time_point give_up_at) {
    if (const error_code failed = open_socket(socket_, peer, timeout_))
        co_return failed;
    bool late = false;
    auto give_up = [&late, this] {
        late = true;
        hang_up();
    };
    const time_limit limit{home_, give_up_at, give_up};
    error_code failed;
    co_await socket_.async_connect(peer, asio::redirect_error(asio::use_awaitable, failed));
    if (failed)
        hang_up();
    co_return late ? asio::error::timed_out : failed;
}

/// Moves the data from the outbox to the send buffer, and encrypts it if the connection uses TLS.
bool byte_stream::pack() {
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

bool byte_stream::send() {
    if (!begin_sending())
        return true;
    write_some();
    return end_sending();
}

bool byte_stream::begin_sending() {
    const bool well = pack();
    sent_ = 0;
    if (!well) {
        sent_ = sending_.size();
        cut({store_errc::tls_failed, "TLS: the data could not be encrypted"});
    }
    return sent_ < sending_.size();
}

void byte_stream::write_some() {
    if (bare_)
        write_begun();
    else
        written_ = socket_.write_some(asio::buffer(sending_), unwritten_);
}

void byte_stream::write_begun() noexcept {
    written_ = bare_->write_some(sending_, unwritten_);
}

bool byte_stream::end_sending() {
    sent_ = written_;
    if (cut_)
        sent_ = sending_.size(); // another thread cut the connection in the meantime
    else if (unwritten_ && unwritten_ != asio::error::would_block)
        drop_rest(unwritten_);
    return sent_ == sending_.size();
}

asio::awaitable<void> byte_stream::send_rest() {
    while (bare_ && !cut_ && sent_ < sending_.size()) {
        co_await bare_->writable();
        error_code failed;
        sent_ += bare_->write_some(std::string_view{sending_}.substr(sent_), failed);
        if (failed && failed != asio::error::would_block)
            drop_rest(failed);
    }
    if (bare_) {
        sent_ = sending_.size(); // also done if the connection was cut
        co_return;
    }
    const auto rest = asio::buffer(sending_) + sent_;
    error_code failed;
    co_await asio::async_write(socket_, rest, asio::redirect_error(asio::use_awaitable, failed));
    sent_ = sending_.size();
    if (failed)
        drop_rest(failed);
}

void byte_stream::drop_rest(error_code why) {
    sent_ = sending_.size();
    went_deaf(why);
}

void byte_stream::went_deaf(error_code why) {
    cut({errc::unreachable, why.message()});
}

asio::awaitable<void> byte_stream::receive() {
    throw_if_ended();
    if (bare_) {
        co_await bare_->readable();
        co_return take_arrived();
    }
    error_code failed;
    const std::size_t size = co_await socket_.async_read_some(
        asio::buffer(inbox_), asio::redirect_error(asio::use_awaitable, failed));
    take_in(size, failed);
}

void byte_stream::take_arrived() {
    throw_if_ended();
    error_code failed;
    const std::size_t size = bare_->read_some(inbox_.data(), inbox_.size(), failed);
    if (failed == asio::error::would_block)
        return;
    if (!failed && size == 0)
        failed = asio::error::eof;
    take_in(size, failed);
}

void byte_stream::take_in(std::size_t size, error_code failed) {
    if (failed)
        cut({errc::unreachable, end_in_words(failed)});
    throw_if_cut();
    const std::string_view received{inbox_.data(), size};
    if (!std::exchange(heard_, true) && !session_ && tls_session::is_tls(received))
        throw failure{store_errc::tls_failed,
                      std::string{"the server there uses TLS; "} + to_have_tls_};
    take(session_ ? session_->open(received) : received);
}

void byte_stream::make_bare() {
    bare_.emplace(socket_.get_executor(), socket_.release());
}

std::string byte_stream::end_in_words(error_code why) const {
    if (why != asio::error::eof)
        return why.message();
    return session_ ? "cut off (no close_notify)" : closed_by_server;
}

byte_stream::parts byte_stream::take_apart() {
    return {socket_.release(), std::move(session_), to_};
}

void byte_stream::cut(failure why) {
    if (cut_)
        return;
    cut_ = std::move(why);
    if (session_)
        take_leave();
    hang_up();
    look_up_alarm_->ring();
}

/// Sends the TLS close_notify if the socket accepts it at once. Never waits.
void byte_stream::take_leave() {
    if (sent_ != sending_.size())
        return; // close_notify would be written into the middle of a TLS record
    sending_.clear();
    session_->say_goodbye(sending_);
    error_code ignored;
    if (bare_)
        bare_->write_some(sending_, ignored);
    else
        socket_.write_some(asio::buffer(sending_), ignored);
    sent_ = sending_.size();
}

void byte_stream::hang_up() {
    if (bare_)
        // Only shut the socket down here, because another thread may still wait on the socket. The
        // destructor closes it.
        return bare_->shut_down();
    error_code ignored;
    socket_.close(ignored);
}

void byte_stream::throw_if_ended() {
    if (session_ && session_->ended())
        cut({errc::unreachable, closed_by_server});
    throw_if_cut();
}

void byte_stream::throw_if_cut() const {
    if (cut_)
        throw failure{*cut_};
}

namespace {

using file_watch = asio::posix::stream_descriptor;

error_code last_error() noexcept {
    return {errno, boost::system::system_category()};
}

[[noreturn]] void fail_unwatched(int socket) {
    const error_code why = last_error();
    ::close(socket);
    throw failure{errc::unreachable, "its socket cannot be watched: " + why.message()};
}

int epoll_of(int socket) {
    const int made = ::epoll_create1(EPOLL_CLOEXEC);
    epoll_event arrivals{};
    arrivals.events = EPOLLIN;
    if (made >= 0 && ::epoll_ctl(made, EPOLL_CTL_ADD, socket, &arrivals) == 0)
        return made;
    if (made >= 0)
        ::close(made);
    fail_unwatched(socket);
}

/// Makes a system call, and repeats it if a signal interrupts it.
template <typename Call>
std::size_t at_once(error_code& failed, Call call) noexcept {
    failed.clear();
    for (;;) {
        const ssize_t size = call();
        if (size >= 0)
            return static_cast<std::size_t>(size);
        if (errno == EINTR)
            continue;
        failed = last_error();
        return 0;
    }
}

} // namespace

bare_socket::bare_socket(const asio::any_io_executor& executor, int socket)
    : number_{socket}
    , watcher_{executor, epoll_of(socket)} {}

bare_socket::~bare_socket() {
    error_code ignored;
    watcher_.close(ignored);
    ::close(number_);
}

std::size_t bare_socket::write_some(std::string_view what, error_code& failed) const noexcept {
    return at_once(failed, [&] {
        return ::send(number_, what.data(), what.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    });
}

std::size_t bare_socket::read_some(char* into, std::size_t size,
                                   error_code& failed) const noexcept {
    return at_once(failed, [&] { return ::recv(number_, into, size, MSG_DONTWAIT); });
}

asio::awaitable<void> bare_socket::readable() {
    error_code ignored; // the reader gets the error
    co_await watcher_.async_wait(file_watch::wait_read,
                                 asio::redirect_error(asio::use_awaitable, ignored));
    // The data arrived before another thread began to read (look_away(true)). Wait until that
    // thread has stopped reading, or until the socket is shut down.
    while (looks_away_ && !shut_)
        co_await wanted();
}

asio::awaitable<void> bare_socket::wanted() {
    auto begin = [this](auto handler) {
        asio::any_completion_handler<void()>{std::move(handler)}.swap(waiter_);
    };
    co_await asio::async_initiate<const asio::deferred_t, void()>(begin, asio::deferred);
}

void bare_socket::go_on() {
    asio::any_completion_handler<void()> taken;
    taken.swap(waiter_);
    if (taken)
        asio::post(watcher_.get_executor(), std::move(taken));
}

/// Waits until the socket can be written. The wait is needed only if the system does not accept all
/// data at once, which is rare.
asio::awaitable<void> bare_socket::writable() {
    const int another = ::fcntl(number_, F_DUPFD_CLOEXEC, 0);
    if (another < 0)
        throw failure{errc::unreachable, last_error().message()};
    file_watch here{watcher_.get_executor(), another};
    error_code ignored;
    co_await here.async_wait(file_watch::wait_write,
                             asio::redirect_error(asio::use_awaitable, ignored));
}

void bare_socket::look_away(bool away) {
    if (away == looks_away_)
        return;
    looks_away_ = away;
    epoll_event arrivals{};
    if (!away)
        arrivals.events = EPOLLIN;
    (void)::epoll_ctl(watcher_.native_handle(), EPOLL_CTL_MOD, number_, &arrivals);
    if (!away)
        go_on();
}

void bare_socket::shut_down() {
    shut_ = true;
    (void)::shutdown(number_, SHUT_RDWR);
    error_code ignored;
    watcher_.cancel(ignored);
    go_on();
}

namespace {

using asio::ip::tcp;

struct answer {
    alarm* wake; ///< null: the caller has stopped waiting
    bool come = false;
    error_code failed{};
    std::vector<tcp::endpoint> found{};
};

} // namespace

asio::awaitable<std::vector<tcp::endpoint>> look_up(asio::any_io_executor executor,
                                                    std::string host, std::uint16_t port,
                                                    alarm& wake, std::function<bool()> given_up) {
    error_code not_numeric;
    const auto numeric = asio::ip::make_address(host, not_numeric);
    // Use the resolver only for a name, not for an IP address, because the resolver would start a
    // thread.
    if (!not_numeric)
        co_return std::vector{tcp::endpoint{numeric, port}};

    const auto told = std::make_shared<answer>(answer{.wake = &wake});
    tcp::resolver resolver{executor};
    auto listen = [told](error_code failed, const tcp::resolver::results_type& found) {
        told->come = true;
        told->failed = failed;
        told->found.assign(found.begin(), found.end());
        if (told->wake)
            told->wake->ring();
    };
    resolver.async_resolve(host, std::to_string(port), tcp::resolver::numeric_service,
                           std::move(listen));
    while (!told->come && !given_up())
        co_await wake.wait_until(time_point::max());
    told->wake = nullptr;
    if (told->failed)
        throw failure{errc::unreachable,
                      "cannot find the address of " + host + ": " + told->failed.message()};
    co_return std::move(told->found);
}

std::function<void()> give_up(byte_stream& line, duration timeout) {
    return [&line, timeout] {
        line.cut({errc::unreachable, "not done within " + std::to_string(timeout.count()) +
                                         " ms (" + line.occupation() + ")"});
    };
}

failure trouble_of_attempt() {
    try {
        throw;
    } catch (const failure& why) {
        const bool unsure = why.code() == errc::outcome_unknown;
        return {unsure ? make_error_code(errc::unreachable) : why.code(), why.text()};
    } catch (const std::exception& why) {
        return {errc::unreachable, why.what()};
    } catch (...) {
        return {errc::unreachable, "an exception that is not a std::exception"};
    }
}

failure no_connection(const std::string& address, const failure& why) {
    return {why.code(), "no connection to " + address + ": " + why.text()};
}

} // namespace holdfast::net
