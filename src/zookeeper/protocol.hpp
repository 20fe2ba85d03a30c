// SPDX-License-Identifier: Apache-2.0
// ZooKeeper's protocol: the encoding (Jute), the frames, the requests of a session, the functions
// that read the answers, and the meaning of error numbers. The code here does no I/O.
#pragma once

#include "net/failure.hpp"
#include "zookeeper/session.hpp"

#include <holdfast/credentials.hpp>
#include <holdfast/zookeeper/options.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::zookeeper {

// Reader and writer for Jute, the encoding of ZooKeeper. Numbers are big-endian. Texts and lists
// begin with their length.

/// Writer that appends to a string.
class jute_writer {
public:
    explicit jute_writer(std::string& out)
        : out_{out} {}

    jute_writer& number(std::int32_t);
    jute_writer& long_number(std::int64_t);
    jute_writer& text(std::string_view); ///< appends a text, or bytes that are not text
    jute_writer& flag(bool);

private:
    std::string& out_;
};

/// Reader of encoded bytes. If it would read beyond the end, or if the bytes announce more elements
/// than they can contain, it throws `net::failure` (protocol).
class jute_reader {
public:
    explicit jute_reader(std::string_view bytes)
        : rest_{bytes} {}

    std::int32_t number();
    std::int64_t long_number();
    bool flag();
    std::string_view text(); ///< view of the bytes given to the constructor; empty for null
    std::vector<std::string> texts();

    bool at_end() const { return rest_.empty(); }
    std::string_view rest() const { return rest_; }

private:
    std::string_view take(std::size_t bytes);
    std::size_t length(std::size_t least_bytes_each);

    std::string_view rest_;
};

/// Splits received bytes into frames; each frame begins with its length. If a frame is too long,
/// throws `net::failure` (protocol) before it reserves memory for the frame.
class frame_reader {
public:
    explicit frame_reader(std::size_t frame_bytes_max)
        : bytes_max_{frame_bytes_max} {}

    void feed(std::string_view bytes);

    /// Returns the next complete frame, without its length. The frame is valid until the next
    /// feed().
    std::optional<std::string_view> next();

private:
    const std::size_t bytes_max_;
    std::string buffer_;
    std::size_t taken_ = 0; // number of bytes of buffer_ that were already returned
};

/// Functions that write a frame. Call begin_frame(), append the content, and pass the result of
/// begin_frame() to end_frame().
std::size_t begin_frame(std::string& out);
void end_frame(std::string& out, std::size_t begun_at);

// Messages of a session: requests (without their frame and number), and readers of answers. All
// readers throw `net::failure` (protocol) if the bytes are not a valid message.

enum class opcode : std::int32_t {
    remove = 2,
    exists = 3,
    get_data = 4,
    set_data = 5,
    get_children = 8,
    sync = 9,
    ping = 11,
    check = 13,
    multi = 14,
    create2 = 15,
    create_container = 19,
    authenticate = 100,
    close_session = -11,
};

/// Numbers of messages that are no ordinary requests. The numbers of ordinary requests begin at
/// one.
namespace number_of {
inline constexpr std::int32_t event = -1;
inline constexpr std::int32_t ping = -2;
inline constexpr std::int32_t authentication = -4;
} // namespace number_of

/// Error numbers that some requests expect as regular answers.
namespace answered {
inline constexpr std::int32_t well = 0;
inline constexpr std::int32_t unimplemented = -6;
inline constexpr std::int32_t no_node = -101;
inline constexpr std::int32_t bad_version = -103;
inline constexpr std::int32_t node_exists = -110;
inline constexpr std::int32_t not_empty = -111;
inline constexpr std::int32_t session_expired = -112;
inline constexpr std::int32_t session_moved = -118;
} // namespace answered

// Constructors of the requests.

struct message {
    opcode what;
    std::string body{};
    /// Returns whether the message is a write. A server answers a write only after the ensemble has
    /// agreed on it.
    bool is_write() const;
};

message create_message(std::string_view path, std::string_view data, node_mode, node_acl);
message remove_message(std::string_view path);
message exists_message(std::string_view path);
message get_message(std::string_view path, bool watched);
/// The server refuses the request if the version of the data is not `version`. With -1, every
/// version is accepted.
message set_message(std::string_view path, std::string_view data, std::int32_t version = -1);
message list_message(std::string_view path, bool watched);
message sync_message(std::string_view path);
/// Makes a write request that checks whether the nodes exist. `paths` must not be empty.
message check_message(std::span<const std::string> paths);

/// Appends a message to `out` as a frame.
void compose(std::string& out, std::int32_t number, const message&);
void compose_ping(std::string& out);
void compose_digest(std::string& out, const credentials&);

/// First frame that the client sends on a connection.
struct greeting {
    /// Newest zxid (transaction number) that this client has seen. A server whose data is older
    /// refuses the client.
    std::int64_t last_zxid = 0;
    std::int32_t timeout_ms = 0;
    std::int64_t id = 0;    ///< id of the session to resume; zero: open a new session
    std::string password{}; ///< password of the session; never stored on disk
};
void compose_greeting(std::string& out, const greeting&);

struct welcome {
    std::int32_t timeout_ms = 0;
    std::int64_t id = 0; ///< id of the granted session; zero: the session has expired
    std::string password{};
};
welcome read_welcome(std::string_view frame);

// Readers of the answers.

struct answer_head {
    std::int32_t number = 0;
    std::int64_t zxid = 0;
    std::int32_t error = 0;
};
answer_head read_head(jute_reader&);

struct node_event {
    enum class kind : std::int32_t { created = 1, deleted = 2, changed = 3, children = 4 };
    std::int32_t type = 0; ///< a `kind`; events of other types are ignored
    std::string path{};

    bool is(kind one) const { return type == static_cast<std::int32_t>(one); }
};
node_event read_event(jute_reader&);

node_stat read_stat(jute_reader&);
created_node read_created(std::string_view body);
node_data read_data(std::string_view body);
std::vector<std::string> read_children(std::string_view body);

/// Returns, for each check, whether its node exists. The server stops at the first missing node, so
/// the entries after that node are empty.
std::vector<std::optional<bool>> read_checks(std::string_view body, std::size_t count);

/// Makes a failure from the error number in an answer. `asked` is the name of the request, for the
/// failure's text.
net::failure failure_of(std::int32_t error, std::string_view asked);

} // namespace holdfast::zookeeper
