// SPDX-License-Identifier: Apache-2.0
#include "fake_server.hpp"

#include "zookeeper/protocol.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <utility>

namespace holdfast {

using boost::system::error_code;
using zookeeper::jute_reader;
using zookeeper::jute_writer;

fake_zookeeper::visit::visit(socket its, fake_zookeeper& home)
    : socket_{std::move(its)}
    , home_{home} {}

void fake_zookeeper::visit::send(const std::string& bytes) {
    error_code ignored; // whoever hung up does not hear it
    boost::asio::write(socket_, boost::asio::buffer(bytes), ignored);
}

void fake_zookeeper::visit::close() {
    open = false;
    error_code ignored;
    socket_.close(ignored);
}

void fake_zookeeper::visit::read() {
    auto heard = [self = shared_from_this()](error_code failed, std::size_t size) {
        if (failed) {
            self->open = false;
            return;
        }
        self->inbox_.append(self->buffer_.data(), size);
        while (self->inbox_.size() >= 4) {
            const auto length = static_cast<std::size_t>(jute_reader{self->inbox_}.number());
            if (self->inbox_.size() < 4 + length)
                break;
            const std::string frame = self->inbox_.substr(4, length);
            self->inbox_.erase(0, 4 + length);
            self->take(frame);
        }
        if (self->open)
            self->read();
    };
    socket_.async_read_some(boost::asio::buffer(buffer_), heard);
}

void fake_zookeeper::visit::take(std::string_view frame) {
    jute_reader from{frame};
    if (!greeting) {
        (void)from.number();
        greeting.emplace();
        greeting->last_zxid = from.long_number();
        greeting->timeout_ms = from.number();
        greeting->id = from.long_number();
        greeting->password = from.text();
        if (home_.greets)
            send(home_.welcome(*greeting));
        return;
    }
    asked one{.number = from.number(), .what = static_cast<opcode>(from.number())};
    one.body = from.rest();
    if (one.what == opcode::ping)
        ++pings;
    else
        requests.push_back(one);
    const auto said = home_.answer_to(one);
    if (said)
        send(*said);
    if (said && one.what == opcode::close_session)
        close();
}

fake_zookeeper::fake_zookeeper(boost::asio::io_context& io)
    : io_{io}
    , acceptor_{io} {
    std::string made = (std::filesystem::temp_directory_path() / "holdfast-XXXXXX").string();
    if (!::mkdtemp(made.data()))
        throw std::runtime_error{"no temporary folder"};
    folder_ = made;
    path_ = (folder_ / "socket").string();
    start();
}

fake_zookeeper::~fake_zookeeper() {
    stop();
    std::filesystem::remove_all(folder_);
}

void fake_zookeeper::start() {
    const boost::asio::local::stream_protocol::endpoint here{path_};
    acceptor_.open(here.protocol());
    acceptor_.bind(here);
    acceptor_.listen();
    accept();
}

void fake_zookeeper::accept() {
    auto accepted = [this](error_code failed, visit::socket socket) {
        if (failed)
            return;
        visits.push_back(std::make_shared<visit>(std::move(socket), *this));
        visits.back()->read();
        accept();
    };
    acceptor_.async_accept(accepted);
}

void fake_zookeeper::stop() {
    error_code ignored;
    acceptor_.close(ignored);
    std::filesystem::remove(path_);
    drop_connections();
}

void fake_zookeeper::drop_connections() {
    for (const auto& one : visits)
        one->close();
}

std::size_t fake_zookeeper::count(opcode what) const {
    std::size_t number = 0;
    for (const auto& one : visits)
        number += static_cast<std::size_t>(std::ranges::count(one->requests, what, &asked::what));
    return number;
}

std::string fake_zookeeper::welcome(const zookeeper::greeting& said) {
    if (welcomes_with)
        if (const auto frame = welcomes_with(said))
            return framed(*frame);
    std::int64_t id = said.id;
    if (id == 0)
        sessions.push_back(id = next_session_++);
    else if (std::ranges::find(sessions, id) == sessions.end())
        id = 0;
    std::string out;
    jute_writer to{out};
    to.number(0).number(id == 0 ? 0 : grants_ms.value_or(said.timeout_ms)).long_number(id);
    to.text(std::string(16, 'p')).flag(false);
    return framed(out);
}

std::optional<std::string> fake_zookeeper::answer_to(const asked& one) {
    if (improvises)
        if (auto said = improvises(one))
            return said;
    zookeeper::message what{.what = one.what};
    answers = answers && (answers_writes || !what.is_write());
    if (!answers)
        return std::nullopt;
    if (one.what == opcode::close_session)
        sessions.clear();
    if (one.what == opcode::authenticate)
        return answer(one.number, login_error);
    const auto found = says.find(one.what);
    if (found != says.end())
        return answer(one.number, found->second.first, found->second.second);
    return answer(one.number, 0, usual_body(one));
}

std::string fake_zookeeper::usual_body(const asked& one) const {
    jute_reader from{one.body};
    switch (one.what) {
    case opcode::create2:
    case opcode::create_container:
        return text(from.text()) + stat(zxid);
    case opcode::get_data:
        return text("data") + stat();
    case opcode::exists:
    case opcode::set_data:
        return stat();
    case opcode::get_children:
        return texts({"a", "b"});
    case opcode::sync:
        return text(from.text());
    case opcode::multi: {
        std::string out;
        while (from.number() != -1) {
            (void)from.flag();
            (void)from.number();
            (void)from.text();
            (void)from.number();
            jute_writer{out}.number(13).flag(false).number(0);
        }
        jute_writer{out}.number(-1).flag(true).number(-1);
        return out;
    }
    default:
        return {};
    }
}

std::string fake_zookeeper::framed(std::string_view content) {
    std::string out;
    const std::size_t at = zookeeper::begin_frame(out);
    out += content;
    zookeeper::end_frame(out, at);
    return out;
}

std::string fake_zookeeper::answer(std::int32_t number, std::int32_t error, std::string_view body) {
    std::string out;
    jute_writer{out}.number(number).long_number(++zxid).number(error);
    out += body;
    return framed(out);
}

std::string fake_zookeeper::event(zookeeper::node_event::kind what, std::string_view path) {
    std::string out;
    jute_writer{out}.number(-1).long_number(-1).number(0);
    jute_writer{out}.number(static_cast<std::int32_t>(what)).number(3).text(path);
    return framed(out);
}

std::string fake_zookeeper::stat(std::int64_t czxid, std::int64_t owner) {
    std::string out;
    jute_writer to{out};
    to.long_number(czxid).long_number(czxid).long_number(1).long_number(1);
    to.number(0).number(0).number(0).long_number(owner).number(0).number(0).long_number(czxid);
    return out;
}

std::string fake_zookeeper::text(std::string_view said) {
    std::string out;
    jute_writer{out}.text(said);
    return out;
}

std::string fake_zookeeper::texts(const std::vector<std::string>& all) {
    std::string out;
    jute_writer to{out};
    to.number(static_cast<std::int32_t>(all.size()));
    for (const std::string& one : all)
        to.text(one);
    return out;
}

} // namespace holdfast
