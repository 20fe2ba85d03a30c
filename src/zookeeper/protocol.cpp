// SPDX-License-Identifier: Apache-2.0
#include "zookeeper/protocol.hpp"

#include <algorithm>
#include <array>

namespace holdfast::zookeeper {

jute_writer& jute_writer::number(std::int32_t value) {
    const auto bits = static_cast<std::uint32_t>(value);
    for (int shift = 24; shift >= 0; shift -= 8)
        out_ += static_cast<char>(bits >> shift);
    return *this;
}

jute_writer& jute_writer::long_number(std::int64_t value) {
    const auto bits = static_cast<std::uint64_t>(value);
    number(static_cast<std::int32_t>(bits >> 32));
    return number(static_cast<std::int32_t>(bits));
}

jute_writer& jute_writer::text(std::string_view bytes) {
    number(static_cast<std::int32_t>(bytes.size()));
    out_ += bytes;
    return *this;
}

jute_writer& jute_writer::flag(bool value) {
    out_ += static_cast<char>(value);
    return *this;
}

std::string_view jute_reader::take(std::size_t bytes) {
    if (bytes > rest_.size())
        throw net::failure{store_errc::protocol, "an answer that ends too early"};
    const std::string_view taken = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return taken;
}

std::int32_t jute_reader::number() {
    std::uint32_t bits = 0;
    for (const char byte : take(4))
        bits = bits << 8 | static_cast<std::uint8_t>(byte);
    return static_cast<std::int32_t>(bits);
}

std::int64_t jute_reader::long_number() {
    const auto high = static_cast<std::uint32_t>(number());
    const auto low = static_cast<std::uint32_t>(number());
    return static_cast<std::int64_t>(std::uint64_t{high} << 32 | low);
}

bool jute_reader::flag() {
    return take(1).front() != '\0';
}

/// Reads the length of a text or a list. Returns zero for the length -1, which stands for null.
std::size_t jute_reader::length(std::size_t least_bytes_each) {
    const std::int32_t said = number();
    if (said < -1)
        throw net::failure{store_errc::protocol, "an answer with a negative length"};
    const auto count = static_cast<std::size_t>(said < 0 ? 0 : said);
    if (count > rest_.size() / least_bytes_each)
        throw net::failure{store_errc::protocol,
                           "an answer with a length that exceeds the received data"};
    return count;
}

std::string_view jute_reader::text() {
    return take(length(1));
}

std::vector<std::string> jute_reader::texts() {
    const std::size_t count = length(4);
    std::vector<std::string> all;
    all.reserve(count);
    for (std::size_t i = 0; i < count; ++i)
        all.emplace_back(text());
    return all;
}

namespace {

constexpr std::size_t head_bytes = 4;

} // namespace

void frame_reader::feed(std::string_view bytes) {
    buffer_.erase(0, taken_);
    taken_ = 0;
    buffer_ += bytes;
}

std::optional<std::string_view> frame_reader::next() {
    const std::string_view rest = std::string_view{buffer_}.substr(taken_);
    if (rest.size() < head_bytes)
        return std::nullopt;
    const std::int32_t said = jute_reader{rest}.number();
    const auto size = static_cast<std::size_t>(said);
    if (said < 0 || size > bytes_max_)
        throw net::failure{store_errc::protocol, "an answer of " + std::to_string(said) +
                                                     " bytes, which is not from 0 "
                                                     "to " +
                                                     std::to_string(bytes_max_) +
                                                     "; is it a ZooKeeper server?"};
    if (rest.size() - head_bytes < size)
        return std::nullopt;
    taken_ += head_bytes + size;
    return rest.substr(head_bytes, size);
}

std::size_t begin_frame(std::string& out) {
    const std::size_t begun_at = out.size();
    out.append(head_bytes, '\0');
    return begun_at;
}

void end_frame(std::string& out, std::size_t begun_at) {
    std::string head;
    jute_writer{head}.number(static_cast<std::int32_t>(out.size() - begun_at - head_bytes));
    out.replace(begun_at, head_bytes, head);
}

namespace {

constexpr std::int32_t any_version = -1;
constexpr std::int32_t every_permission = 31;
constexpr std::int32_t no_more = -1; // type that marks the end of a multi request
constexpr std::size_t password_bytes = 16;

std::int32_t as_number(opcode what) {
    return static_cast<std::int32_t>(what);
}

template <typename Fill>
message made(opcode what, Fill fill) {
    message one{.what = what};
    jute_writer to{one.body};
    fill(to);
    return one;
}

void write_acl(jute_writer& to, node_acl who) {
    const bool open = who == node_acl::open;
    to.number(1).number(every_permission);
    to.text(open ? "world" : "auth").text(open ? "anyone" : "");
}

/// Header of each part of a multi request or of its answer.
struct part_head {
    std::int32_t type = no_more;
    bool done = true;
    std::int32_t error = -1;
};

void write_part_head(jute_writer& to, const part_head& head) {
    to.number(head.type).flag(head.done).number(head.error);
}

part_head read_part_head(jute_reader& from) {
    part_head head;
    head.type = from.number();
    head.done = from.flag();
    head.error = from.number();
    return head;
}

} // namespace

bool message::is_write() const {
    constexpr std::array writes{opcode::remove, opcode::set_data, opcode::multi, opcode::create2,
                                opcode::create_container};
    return std::ranges::find(writes, what) != writes.end();
}

message create_message(std::string_view path, std::string_view data, node_mode mode, node_acl who) {
    const bool container = mode == node_mode::container;
    return made(container ? opcode::create_container : opcode::create2, [&](jute_writer& to) {
        to.text(path).text(data);
        write_acl(to, who);
        to.number(static_cast<std::int32_t>(mode));
    });
}

message remove_message(std::string_view path) {
    return made(opcode::remove, [&](jute_writer& to) { to.text(path).number(any_version); });
}

message exists_message(std::string_view path) {
    return made(opcode::exists, [&](jute_writer& to) { to.text(path).flag(false); });
}

message get_message(std::string_view path, bool watched) {
    return made(opcode::get_data, [&](jute_writer& to) { to.text(path).flag(watched); });
}

message set_message(std::string_view path, std::string_view data, std::int32_t version) {
    return made(opcode::set_data,
                [&](jute_writer& to) { to.text(path).text(data).number(version); });
}

message list_message(std::string_view path, bool watched) {
    return made(opcode::get_children, [&](jute_writer& to) { to.text(path).flag(watched); });
}

message sync_message(std::string_view path) {
    return made(opcode::sync, [&](jute_writer& to) { to.text(path); });
}

message check_message(std::span<const std::string> paths) {
    return made(opcode::multi, [&](jute_writer& to) {
        for (const std::string& path : paths) {
            write_part_head(to, {as_number(opcode::check), false, -1});
            to.text(path).number(any_version);
        }
        write_part_head(to, {});
    });
}

void compose(std::string& out, std::int32_t number, const message& what) {
    const std::size_t begun_at = begin_frame(out);
    jute_writer{out}.number(number).number(as_number(what.what));
    out += what.body;
    end_frame(out, begun_at);
}

void compose_ping(std::string& out) {
    compose(out, number_of::ping, {.what = opcode::ping});
}

void compose_digest(std::string& out, const credentials& who) {
    const std::size_t begun_at = begin_frame(out);
    const std::string_view password = who.password.reveal();
    jute_writer to{out};
    to.number(number_of::authentication).number(as_number(opcode::authenticate));
    to.number(0).text("digest");
    // Append the parts one by one, because a joined string would leave a copy of the password in
    // memory.
    to.number(static_cast<std::int32_t>(who.user.size() + 1 + password.size()));
    out.append(who.user).append(":").append(password);
    end_frame(out, begun_at);
}

void compose_greeting(std::string& out, const greeting& said) {
    const std::size_t begun_at = begin_frame(out);
    jute_writer to{out};
    to.number(0).long_number(said.last_zxid).number(said.timeout_ms).long_number(said.id);
    to.text(said.id ? said.password : std::string(password_bytes, '\0'));
    to.flag(false); // the client does not accept a read-only server
    end_frame(out, begun_at);
}

welcome read_welcome(std::string_view frame) {
    jute_reader from{frame};
    (void)from.number(); // skip the version of the protocol, always 0
    welcome said;
    said.timeout_ms = from.number();
    said.id = from.long_number();
    said.password = from.text();
    return said;
}

answer_head read_head(jute_reader& from) {
    answer_head head;
    head.number = from.number();
    head.zxid = from.long_number();
    head.error = from.number();
    return head;
}

node_event read_event(jute_reader& from) {
    node_event told;
    told.type = from.number();
    (void)from.number(); // skip the state of the session, which the client knows itself
    told.path = from.text();
    return told;
}

node_stat read_stat(jute_reader& from) {
    node_stat stat;
    stat.czxid = from.long_number();
    stat.mzxid = from.long_number();
    stat.made_at = from.long_number();
    (void)from.long_number(); // skip the time of the last change
    stat.version = from.number();
    stat.child_version = from.number();
    (void)from.number(); // skip the version of the ACL
    stat.ephemeral_owner = from.long_number();
    stat.data_length = from.number();
    stat.children = from.number();
    stat.pzxid = from.long_number();
    return stat;
}

created_node read_created(std::string_view body) {
    jute_reader from{body};
    created_node made{.path = std::string{from.text()}};
    if (!from.at_end()) // servers before 3.5.3 send no stat for a container node
        made.stat = read_stat(from);
    return made;
}

node_data read_data(std::string_view body) {
    jute_reader from{body};
    node_data found{.data = std::string{from.text()}};
    found.stat = read_stat(from);
    return found;
}

std::vector<std::string> read_children(std::string_view body) {
    return jute_reader{body}.texts();
}

std::vector<std::optional<bool>> read_checks(std::string_view body, std::size_t count) {
    jute_reader from{body};
    std::vector<std::optional<bool>> there;
    there.reserve(count);
    bool decided = true; // true: all checks so far succeeded
    for (std::size_t i = 0; i < count; ++i) {
        const part_head head = read_part_head(from);
        if (head.done)
            throw net::failure{store_errc::protocol, "an answer to fewer checks than were asked"};
        const bool failed = head.type == no_more;
        const std::int32_t error = failed ? from.number() : head.error;
        there.push_back(decided ? std::optional{error == answered::well} : std::nullopt);
        decided = decided && error == answered::well;
    }
    if (!read_part_head(from).done)
        throw net::failure{store_errc::protocol, "an answer to more checks than were asked"};
    return there;
}

namespace {

struct known_error {
    std::int32_t number;
    error_code code;
    std::string_view words; ///< name in ZooKeeper's documentation, for operators
};

const auto& known_errors() {
    static const std::array all{
        known_error{-4, make_error_code(errc::outcome_unknown), "ConnectionLoss"},
        known_error{-6, make_error_code(store_errc::other), "Unimplemented"},
        known_error{-7, make_error_code(errc::outcome_unknown), "OperationTimeout"},
        known_error{-8, make_error_code(store_errc::other), "BadArguments"},
        known_error{-101, make_error_code(store_errc::not_set_up), "NoNode"},
        known_error{-102, make_error_code(store_errc::no_permission), "NoAuth"},
        known_error{-108, make_error_code(store_errc::wrong_type), "NoChildrenForEphemerals"},
        known_error{-112, make_error_code(errc::unreachable), "SessionExpired"},
        known_error{-114, make_error_code(store_errc::not_authenticated), "InvalidACL"},
        known_error{-115, make_error_code(store_errc::not_authenticated), "AuthFailed"},
        known_error{-118, make_error_code(errc::unreachable), "SessionMoved"},
        known_error{-119, make_error_code(store_errc::read_only), "NotReadOnly"},
        known_error{-120, make_error_code(store_errc::unfit), "EphemeralOnLocalSession"},
        known_error{-122, make_error_code(errc::outcome_unknown), "RequestTimeout"},
        known_error{-123, make_error_code(store_errc::try_again), "ReconfigInProgress"},
        known_error{-124, make_error_code(store_errc::not_authenticated),
                    "SessionClosedRequireSaslAuth"},
        known_error{-125, make_error_code(store_errc::out_of_memory), "QuotaExceeded"},
        known_error{-127, make_error_code(store_errc::try_again), "ThrottledOp"},
    };
    return all;
}

} // namespace

net::failure failure_of(std::int32_t error, std::string_view asked) {
    const auto& all = known_errors();
    const auto found = std::ranges::find(all, error, &known_error::number);
    const bool known = found != all.end();
    const std::string words = known ? std::string{found->words} : "error";
    return {known ? found->code : make_error_code(store_errc::other),
            words + " (" + std::to_string(error) + ") for " + std::string{asked}};
}

} // namespace holdfast::zookeeper
