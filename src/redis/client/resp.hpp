// SPDX-License-Identifier: Apache-2.0
// RESP2, the protocol of the servers: the writer of requests, the parser of replies, functions that
// read the values in a reply, and the type of a Lua script.
#pragma once

#include "runtime/remote_clock.hpp"

#include <holdfast/redis/options.hpp>
#include <holdfast/time.hpp>

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::redis {

/// A Lua script, with the SHA-1 digest that EVALSHA needs. The build embeds the scripts
/// (tools/embed_lua.cmake).
struct script {
    std::string_view name{};
    std::string_view sha1{};
    std::string_view text{};
};

/// One reply of a server, in RESP2.
struct reply {
    enum class kind { nil, integer, text, status, error, array };

    kind type = kind::nil;
    std::int64_t integer = 0;
    std::string text; ///< content of `text`, `status` and `error`
    std::vector<reply> items;

    // Times by this client's clock: when the request was composed for sending, and when its reply
    // was read. A reply may contain other replies. This member and all following members are set
    // only in the outermost reply.
    time_point sent_at{};
    time_point received_at{};

    /// True if the server that replied is importing the slot of the request's keys. Subscribers at
    /// the slot's old server then miss the messages of this request.
    bool moves = false;

    /// Number of replicas that confirmed the request (`call_options::replicas`). If the server
    /// refused WAIT, which asks for this number, `confirmation_refused` is its error text.
    std::int64_t confirmed = 0;
    std::string confirmation_refused{};

    /// Estimate of the clock of the server that replied. Each connection has its own estimate. Code
    /// that reads the server's time in a reply may improve the estimate. Null if the reply did not
    /// come over a connection.
    std::shared_ptr<runtime::remote_clock> clock{};
};

/// Writes requests in RESP to a buffer. Each word is sent with its length, so a name may contain
/// any bytes.
class composer {
public:
    explicit composer(std::string& out)
        : out_{out} {}

    /// Begins a request of `words` words.
    void begin(std::size_t words) { head('*', words); }

    void word(std::string_view text) {
        head('$', text.size());
        out_.append(text).append("\r\n");
    }

    void number(std::int64_t value) {
        std::array<char, 20> digits; // the longest number is -9223372036854775808
        word({digits.data(), std::to_chars(digits.data(), digits.end(), value).ptr});
    }

    void request(std::initializer_list<std::string_view> words) {
        begin(words.size());
        for (const std::string_view text : words)
            word(text);
    }

private:
    void head(char type, std::size_t count) {
        std::array<char, 24> line;
        line.front() = type;
        char* end = std::to_chars(line.data() + 1, line.end(), count).ptr;
        *end++ = '\r';
        *end++ = '\n';
        out_.append(line.data(), end);
    }

    std::string& out_;
};

} // namespace holdfast::redis

struct redisReader;

namespace holdfast::redis {

/// Parser of the received bytes. hiredis splits the bytes, and this class builds the replies.
/// Throws `store_errc::protocol` if the bytes are not RESP2 or exceed a limit. The connection
/// cannot be used any more after that.
class answer_reader {
public:
    /// Maximum number of items in one reply. The reply of a script has a few items for each hold.
    static constexpr std::size_t items_max = 64 * 1024;
    /// Maximum number of items in one reply of a cluster node. CLUSTER SLOTS has the greatest
    /// reply: it may have a range for each slot, with about twenty items each.
    static constexpr std::size_t items_max_in_cluster = 1024 * 1024;
    /// Maximum nesting of arrays. CLUSTER SLOTS has four levels; no other reply has more.
    static constexpr std::size_t depth_max = 16;
    /// Maximum length of a line, in bytes. Every item of RESP2 but a bulk string is one line.
    static constexpr std::size_t line_bytes_max = 32 * 1024;
    // Usual number of items in a script's reply. Memory for them is reserved at once.
    static constexpr std::size_t items_usual = 4;

    explicit answer_reader(std::size_t reply_bytes_max, std::size_t items = items_max);
    answer_reader(const answer_reader&) = delete;
    ~answer_reader();

    void feed(std::string_view bytes);

    /// Returns the next complete reply, or null. The reply is valid until the next call, and the
    /// caller may move its content out. Throws at a fault in the bytes, but only after it has
    /// returned all replies before the fault.
    reply* next();

private:
    struct frees_reader {
        void operator()(redisReader*) const noexcept;
    };
    struct builder; // callbacks for hiredis

    std::size_t check_lines(std::string_view bytes);
    bool end_line();
    [[noreturn]] void give_up() const;

    std::size_t bytes_max_;
    std::size_t items_max_;
    std::size_t body_left_ = 0;  // bytes of a bulk string (and its line end) that are missing
    std::size_t line_bytes_ = 0; // length of the present line so far
    // First bytes of the present line: enough to read the line that begins a bulk string, such as
    // `$5`.
    std::string line_begins_;
    bool line_ends_in_return_ = false; // true: the last byte so far is a carriage return
    std::size_t unanswered_bytes_ = 0; // bytes since the last complete reply
    std::size_t items_ = 0;            // number of items in the present reply
    bool complete_ = false;            // true: root_ is a complete reply, already returned
    const char* refused_ = nullptr;    // why this class (and not hiredis) refused the reply
    const char* bad_line_ = nullptr;   // why a line after the fed bytes is refused
    reply root_;
    std::unique_ptr<redisReader, frees_reader> reader_;
};

/// Reads a number. Returns nothing if the text is not only a number.
template <typename Number>
std::optional<Number> number_in(std::string_view text) {
    Number value{};
    const char* const end = text.data() + text.size();
    const auto [behind, failed] = std::from_chars(text.data(), end, value);
    if (failed != std::errc{} || behind != end)
        return std::nullopt;
    return value;
}

/// Returns whether the client accepts the text as a host that another server has named. A host name
/// has at most 253 bytes and no spaces. It must not begin with `/`, like the path of a local
/// socket: a process that listens at such a socket would get the password.
bool is_host(std::string_view text);

/// Returns whether the client accepts the text as a host that the server `asked` has named; see
/// is_host(). If `asked` is the path of a socket, a path is accepted, too.
bool is_host_beside(std::string_view text, std::string_view asked);

/// Reads a port from 1 to 65535, which must consist of digits only.
std::optional<std::uint16_t> read_port(std::string_view text);

/// Reads `host:port` in the form that servers use. An IPv6 address may have brackets. If the text
/// has no host, the result has the host `asked`.
std::optional<server_address> read_host_and_port(std::string_view text, std::string_view asked);

/// Returns the value of a field in a reply to INFO, which has lines of the form `field:value`. The
/// result is empty if the field is missing.
std::string_view info_field(std::string_view info, std::string_view field);

} // namespace holdfast::redis
