// SPDX-License-Identifier: Apache-2.0
// What is said in a session: requests without their frame and number, and what is read of answers.
// All that is read throws `net::failure` (protocol) where it makes no sense.
#pragma once

#include "zookeeper/session.hpp"
#include "zookeeper/wire/jute.hpp"

#include <holdfast/credentials.hpp>
#include <holdfast/zookeeper/options.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::zookeeper {

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

/// Numbers of what is no answer to a usual request; those of usual requests begin at one.
namespace number_of {
inline constexpr std::int32_t event = -1;
inline constexpr std::int32_t ping = -2;
inline constexpr std::int32_t authentication = -4;
} // namespace number_of

/// Errors that are answers to some requests.
namespace answered {
inline constexpr std::int32_t well = 0;
inline constexpr std::int32_t unimplemented = -6;
inline constexpr std::int32_t no_node = -101;
inline constexpr std::int32_t node_exists = -110;
inline constexpr std::int32_t not_empty = -111;
inline constexpr std::int32_t session_expired = -112;
inline constexpr std::int32_t session_moved = -118;
} // namespace answered

// Requests.

struct message {
    opcode what;
    std::string body{};
    /// It writes: the ensemble agrees on it before it is answered.
    bool is_write() const;
};

message create_message(std::string_view path, std::string_view data, node_mode, node_acl);
message remove_message(std::string_view path);
message exists_message(std::string_view path);
message get_message(std::string_view path, bool watched);
message set_message(std::string_view path, std::string_view data);
message list_message(std::string_view path, bool watched);
message sync_message(std::string_view path);
/// Whether they are there, as a write. At least one.
message check_message(std::span<const std::string> paths);

/// Appends it as a frame.
void compose(std::string& out, std::int32_t number, const message&);
void compose_ping(std::string& out);
void compose_digest(std::string& out, const credentials&);

/// The first frame of a connection, and its answer.
struct greeting {
    std::int64_t last_zxid = 0; ///< the newest that was seen: no server that is behind it will do
    std::int32_t timeout_ms = 0;
    std::int64_t id = 0;    ///< zero: a new session
    std::string password{}; ///< of the session; in memory only
};
void compose_greeting(std::string& out, const greeting&);

struct welcome {
    std::int32_t timeout_ms = 0;
    std::int64_t id = 0; ///< zero: the session has expired
    std::string password{};
};
welcome read_welcome(std::string_view frame);

// Answers.

struct answer_head {
    std::int32_t number = 0;
    std::int64_t zxid = 0;
    std::int32_t error = 0;
};
answer_head read_head(jute_reader&);

struct node_event {
    enum class kind : std::int32_t { created = 1, deleted = 2, changed = 3, children = 4 };
    std::int32_t type = 0; ///< one of kind, or another one, which is of no interest
    std::string path{};

    bool is(kind one) const { return type == static_cast<std::int32_t>(one); }
};
node_event read_event(jute_reader&);

node_stat read_stat(jute_reader&);
created_node read_created(std::string_view body);
node_data read_data(std::string_view body);
std::vector<std::string> read_children(std::string_view body);

/// For each of so many checks: whether it is there. Nothing: that was not found out, since one
/// before it is not.
std::vector<std::optional<bool>> read_checks(std::string_view body, std::size_t count);

} // namespace holdfast::zookeeper
