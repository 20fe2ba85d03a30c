// SPDX-License-Identifier: Apache-2.0
#include "cli/server/server_link.hpp"

#include <array>
#include <cerrno>
#include <charconv>

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

namespace cli {
namespace {

constexpr timeval answer_patience{.tv_sec = 3, .tv_usec = 0};

} // namespace

std::optional<server_link> server_link::open(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    descriptor socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    for (const int direction : {SO_RCVTIMEO, SO_SNDTIMEO})
        ::setsockopt(socket.get(), SOL_SOCKET, direction, &answer_patience, sizeof answer_patience);
    const int result =
        ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
    const bool has_no_room = result != 0 && errno == EAGAIN; // its queue of connections is full
    if (result != 0 && !has_no_room)
        return std::nullopt;
    server_link link{std::move(socket)};
    link.silent_ = has_no_room;
    return link;
}

void server_link::read_more() {
    std::array<char, 4096> chunk;
    const ssize_t got = ::recv(socket_.get(), chunk.data(), chunk.size(), 0);
    silent_ = got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
    if (got <= 0)
        throw no_answer{"the server does not answer"};
    unread_.append(chunk.data(), static_cast<std::size_t>(got));
}

std::string server_link::take_line() {
    while (unread_.find("\r\n") == std::string::npos)
        read_more();
    std::string line = take(unread_.find("\r\n") + 2);
    line.resize(line.size() - 2);
    return line;
}

std::string server_link::take(std::size_t bytes) {
    while (unread_.size() < bytes)
        read_more();
    std::string taken = unread_.substr(0, bytes);
    unread_.erase(0, bytes);
    return taken;
}

std::string server_link::ask(std::string_view command) {
    const std::string line = std::string{command} + "\r\n";
    if (::send(socket_.get(), line.data(), line.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(line.size()))
        throw no_answer{"the server does not listen"};
    const std::string head = take_line();
    if (!head.starts_with('$'))
        return head.substr(1);
    std::size_t size = 0;
    std::from_chars(head.data() + 1, head.data() + head.size(), size);
    return take(size + 2).substr(0, size);
}

pid_t server_link::server() const {
    ucred peer{};
    socklen_t size = sizeof peer;
    ::getsockopt(socket_.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size);
    return peer.pid;
}

bool server_link::answers() noexcept {
    try {
        ask("PING");
        return true;
    } catch (const std::exception&) {
        return false;
    }
}

void server_link::shut_down() {
    try {
        ask("SHUTDOWN NOSAVE");
    } catch (const no_answer&) {
        // expected: the server ends without a reply
    }
}

std::string text_in(std::string_view info, std::string_view name) {
    const std::string sought = "\n" + std::string{name} + ":";
    const std::size_t at = info.find(sought);
    if (at == std::string_view::npos)
        return {};
    const std::string_view rest = info.substr(at + sought.size());
    return std::string{rest.substr(0, rest.find('\r'))};
}

long number_in(std::string_view info, std::string_view name) {
    const std::string text = text_in(info, name);
    long number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

} // namespace cli
