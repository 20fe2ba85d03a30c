// SPDX-License-Identifier: Apache-2.0
#include "node_fixture.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <stdexcept>

namespace holdfast {

using boost::system::error_code;

fake_server::session::session(stream::socket socket, fake_server& home)
    : socket_{std::move(socket)}
    , home_{home} {}

void fake_server::session::send(const std::string& bytes) {
    error_code ignored; // whoever hung up does not hear it
    boost::asio::write(socket_, boost::asio::buffer(bytes), ignored);
}

void fake_server::session::close() {
    open = false;
    error_code ignored;
    socket_.close(ignored);
}

void fake_server::session::hear_again() {
    deaf = false;
    read();
}

void fake_server::session::refuse_to_hear() {
    deaf = true;
    socket_.shutdown(stream::socket::shutdown_receive);
}

void fake_server::session::read() {
    auto heard = [self = shared_from_this()](error_code failed, std::size_t size) {
        if (failed) {
            self->open = false;
            return;
        }
        self->inbox_.append(self->buffer_.data(), size);
        ++self->bursts;
        self->take_requests();
        if (!self->deaf)
            self->read();
    };
    socket_.async_read_some(boost::asio::buffer(buffer_), heard);
}

namespace {

bool asks_for_node(const fake_server::words& request) {
    return request.size() == 2 && request[0] == "CLUSTER" && request[1] == "MYID";
}

} // namespace

/// ROLE is the first time only: then it is what an idle connection asks.
bool fake_server::session::is_set_up(const words& request) {
    static const std::set<std::string> always{"AUTH", "SELECT", "CLIENT", "TIME", "INFO"};
    return always.contains(request[0]) || asks_for_node(request) ||
           (request[0] == "ROLE" && !std::exchange(told_role_, true));
}

/// A script without keys.
bool fake_server::session::is_probe(const words& request) {
    return request.size() == 3 && request[0] == "EVAL" && request[2] == "0";
}

void fake_server::session::note_probe() {
    const auto self = shared_from_this();
    std::erase(home_.sessions, self);
    home_.probes.push_back(self);
    muted = muted || !home_.answers_probes;
}

void fake_server::session::take_requests() {
    std::string answers;
    while (auto request = next_request()) {
        if (is_probe(*request)) {
            note_probe();
            answers += muted ? "" : ":1\r\n";
            continue;
        }
        const auto answer = home_.answer_to(*request);
        holds_back = holds_back || request->front() == home_.slow_word;
        if (is_set_up(*request)) {
            ++home_.set_up;
            bursts = 0;
        } else {
            asked.push_back(std::move(*request));
        }
        muted = muted || !answer;
        if (!muted)
            answers += *answer;
    }
    if (holds_back)
        held += answers;
    else if (!answers.empty())
        send(answers);
}

void fake_server::session::release(std::size_t bytes) {
    if (open)
        send(held.substr(0, bytes));
    held.erase(0, bytes);
}

std::optional<fake_server::words> fake_server::session::next_request() {
    std::size_t at = 0;
    const auto number = [&](char type) -> std::optional<std::size_t> {
        const auto end = inbox_.find("\r\n", at);
        if (end == std::string::npos)
            return std::nullopt;
        if (inbox_[at] != type)
            throw std::runtime_error{"not a request: " + inbox_};
        const std::size_t value = std::stoul(inbox_.substr(at + 1, end - at - 1));
        at = end + 2;
        return value;
    };
    words request;
    const auto count = number('*');
    for (std::size_t i = 0; count && i < *count; ++i) {
        const auto size = number('$');
        if (!size || inbox_.size() < at + *size + 2)
            return std::nullopt;
        request.push_back(inbox_.substr(at, *size));
        at += *size + 2;
    }
    if (request.empty())
        return std::nullopt;
    inbox_.erase(0, at);
    return request;
}

fake_server::fake_server(boost::asio::io_context& io)
    : fake_server{io, std::nullopt} {}

fake_server::fake_server(boost::asio::io_context& io, place where)
    : fake_server{io, std::optional{std::move(where)}} {}

fake_server::fake_server(boost::asio::io_context& io, std::optional<place> where)
    : io_{io}
    , place_{std::move(where)}
    , acceptor_{io} {
    if (place_ && place_->port == 0)
        place_->port = reserved_.emplace().number();
    std::string made = (std::filesystem::temp_directory_path() / "holdfast-XXXXXX").string();
    if (!::mkdtemp(made.data()))
        throw std::runtime_error{"no temporary folder"};
    folder_ = made;
    path_ = (folder_ / "socket").string();
    for (const char* word : {"AUTH", "SELECT", "CLIENT"})
        says[word] = "+OK\r\n";
    says["ROLE"] = "*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n";
    says["TIME"] = "*2\r\n$10\r\n1700000000\r\n$1\r\n0\r\n";
    says["PING"] = "*2\r\n$4\r\npong\r\n$0\r\n\r\n";
    says["SUBSCRIBE"] = says["UNSUBSCRIBE"] = ""; // composed when it is asked
    start();
}

fake_server::~fake_server() {
    stop();
    std::filesystem::remove_all(folder_);
}

fake_server::stream::endpoint fake_server::endpoint() const {
    namespace asio = boost::asio;
    if (place_)
        return asio::ip::tcp::endpoint{asio::ip::make_address(place_->address), place_->port};
    return asio::local::stream_protocol::endpoint{path_};
}

void fake_server::start() {
    acceptor_.open(endpoint().protocol());
    acceptor_.set_option(boost::asio::socket_base::reuse_address{true});
    acceptor_.bind(endpoint());
    acceptor_.listen();
    accept();
}

void fake_server::accept() {
    auto accepted = [this](error_code failed, stream::socket socket) {
        if (failed)
            return;
        sessions.push_back(std::make_shared<session>(std::move(socket), *this));
        sessions.back()->read();
        accept();
    };
    acceptor_.async_accept(accepted);
}

void fake_server::stop() {
    error_code ignored;
    acceptor_.close(ignored);
    std::filesystem::remove(path_);
    drop_connections();
}

void fake_server::drop_connections() {
    for (const auto* all : {&sessions, &probes})
        for (const auto& one : *all)
            one->close();
}

void fake_server::release_late(time_point now, duration delay) {
    for (const auto& one : sessions) {
        if (!one->holds_back || now - *(one->held_since = one->held_since.value_or(now)) < delay)
            continue;
        one->held_since.reset();
        one->holds_back = false;
        one->release();
    }
}

std::size_t fake_server::count_asked(const std::string& first_word) const {
    std::size_t count = 0;
    for (const auto& one : sessions)
        count += static_cast<std::size_t>(
            std::ranges::count_if(one->asked, [&](const words& w) { return w[0] == first_word; }));
    return count;
}

std::string fake_server::info(const std::string& section) const {
    const std::string text = section == "server"
                                 ? "# Server\r\nrun_id:" + run_id +
                                       "\r\nuptime_in_seconds:" + std::to_string(uptime_s) + "\r\n"
                                 : "# Replication\r\nmaster_replid:" + replication_id + "\r\n";
    return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
}

std::optional<std::string> fake_server::answer_to(const words& request) const {
    if (improvises)
        if (auto answer = improvises(request))
            return answer;
    if (asks_for_node(request))
        return node_id.empty() ? "-ERR unknown subcommand\r\n"
                               : "$" + std::to_string(node_id.size()) + "\r\n" + node_id + "\r\n";
    if (request.front() == "INFO" && !says.contains("INFO"))
        return info(request.at(1));
    const auto found = says.find(request.front());
    if (found == says.end())
        return std::nullopt;
    if (!found->second.empty() || request.size() < 2)
        return found->second;
    std::string verb = request[0];
    std::ranges::transform(verb, verb.begin(), [](char c) { return static_cast<char>(c | 0x20); });
    return "*3\r\n$" + std::to_string(verb.size()) + "\r\n" + verb + "\r\n$" +
           std::to_string(request[1].size()) + "\r\n" + request[1] + "\r\n:1\r\n";
}

} // namespace holdfast
