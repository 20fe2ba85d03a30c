// SPDX-License-Identifier: Apache-2.0
#include "redis/client/resp.hpp"

#include "net/failure.hpp"

#include <hiredis/read.h>

#include <algorithm>
#include <new>
#include <utility>

namespace holdfast::redis {

/// Functions that hiredis calls for each object of a reply. They must not throw, because hiredis is
/// C code. If a function returns null, hiredis stops parsing.
struct answer_reader::builder {
    /// Returns the memory for the next object. An array gets memory for one item at a time. So an
    /// array that announces a million items, but does not contain them, takes little memory. A new
    /// item may move the earlier items in memory, which is safe because they are complete.
    static reply* place(const redisReadTask* task) {
        auto& reader = *static_cast<answer_reader*>(task->privdata);
        if (!task->parent)
            return &reader.root_;
        if (++reader.items_ > reader.items_max_) {
            reader.refused_ = "an answer with too many items";
            return nullptr;
        }
        if (depth_of(task) > depth_max) {
            reader.refused_ = "an answer with arrays nested too deeply";
            return nullptr;
        }
        auto& items = static_cast<reply*>(task->parent->obj)->items;
        if (items.empty())
            items.reserve(items_usual);
        return &items.emplace_back();
    }

    /// Returns how many arrays are around the object. The result is at most `depth_max`.
    static std::size_t depth_of(const redisReadTask* task) {
        std::size_t depth = 0;
        while ((task = task->parent))
            ++depth;
        return depth;
    }

    template <typename Fill>
    static void* make(const redisReadTask* task, Fill fill) noexcept {
        try {
            reply* const made = place(task);
            if (made)
                fill(*made);
            return made;
        } catch (const std::bad_alloc&) {
            return nullptr;
        }
    }

    /// Refuses the types of RESP3. A server may use them only if the client has asked for RESP3.
    static void* refuse(const redisReadTask* task) noexcept {
        static_cast<answer_reader*>(task->privdata)->refused_ = "an answer that is not valid RESP2";
        return nullptr;
    }

    static void* create_string(const redisReadTask* task, char* text, std::size_t size) {
        const int type = task->type;
        if (type != REDIS_REPLY_STRING && type != REDIS_REPLY_STATUS && type != REDIS_REPLY_ERROR)
            return refuse(task);
        return make(task, [=](reply& made) {
            made.type = type == REDIS_REPLY_STRING   ? reply::kind::text
                        : type == REDIS_REPLY_STATUS ? reply::kind::status
                                                     : reply::kind::error;
            made.text.assign(text, size);
        });
    }

    template <typename Count> // hiredis before 1.0: int; later: size_t
    static void* create_array(const redisReadTask* task, Count) {
        if (task->type != REDIS_REPLY_ARRAY)
            return refuse(task);
        return make(task, [](reply& made) { made.type = reply::kind::array; });
    }

    static void* create_integer(const redisReadTask* task, long long value) {
        return make(task, [value](reply& made) {
            made.type = reply::kind::integer;
            made.integer = value;
        });
    }

    static void* create_nil(const redisReadTask* task) {
        if (task->type == REDIS_REPLY_NIL) // the null of RESP3; RESP2 has a null string or array
            return refuse(task);
        return make(task, [](reply& made) { made.type = reply::kind::nil; });
    }

    static void free_object(void*) {} // root_ owns all objects

    template <typename Functions>
    static Functions functions() {
        Functions all{};
        all.createString = create_string;
        all.createArray = create_array;
        all.createInteger = create_integer;
        all.createNil = create_nil;
        all.freeObject = free_object;
        if constexpr (requires { all.createDouble; })
            all.createDouble = [](const redisReadTask* task, double, char*, std::size_t) {
                return refuse(task);
            };
        if constexpr (requires { all.createBool; })
            all.createBool = [](const redisReadTask* task, int) { return refuse(task); };
        return all;
    }
};

answer_reader::answer_reader(std::size_t reply_bytes_max, std::size_t items)
    : bytes_max_{reply_bytes_max}
    , items_max_{items} {
    static redisReplyObjectFunctions functions = builder::functions<redisReplyObjectFunctions>();
    reader_.reset(redisReaderCreateWithFunctions(&functions));
    if (!reader_)
        throw std::bad_alloc{};
    reader_->privdata = this;
    // Make hiredis keep its buffer. Otherwise it would free the buffer after every large read.
    reader_->maxbuf = 1024 * 1024;
}

answer_reader::~answer_reader() = default;

void answer_reader::frees_reader::operator()(redisReader* reader) const noexcept {
    redisReaderFree(reader);
}

void answer_reader::feed(std::string_view bytes) {
    if (bad_line_)
        return;
    bytes = bytes.substr(0, check_lines(bytes));
    unanswered_bytes_ += bytes.size();
    if (redisReaderFeed(reader_.get(), bytes.data(), bytes.size()) != REDIS_OK)
        give_up();
}

/// Returns how many bytes come before the first bad line, and stores what is wrong with that line.
/// Two kinds of lines are bad. A line may be too long: at each call, hiredis searches an incomplete
/// line from its start, so the time would grow with the square of the length. Or a line ends
/// without a carriage return: hiredis would continue to wait for the end of the line.
std::size_t answer_reader::check_lines(std::string_view bytes) {
    constexpr std::size_t head_bytes_max = 32;
    static_assert(line_bytes_max == 32 * 1024, "the text below names the limit");
    std::size_t good = 0;
    for (std::string_view rest = bytes; !rest.empty(); rest = bytes.substr(good)) {
        const std::size_t skipped = std::min(body_left_, rest.size());
        body_left_ -= skipped;
        rest.remove_prefix(skipped);
        good += skipped;
        const std::size_t end = rest.find('\n');
        const std::string_view part = rest.substr(0, end);
        line_bytes_ += part.size();
        if (line_bytes_ > line_bytes_max) {
            bad_line_ = "a line of more than 32768 bytes";
            return good;
        }
        const std::size_t room = head_bytes_max - std::min(head_bytes_max, line_begins_.size());
        line_begins_ += part.substr(0, room);
        if (!part.empty())
            line_ends_in_return_ = part.back() == '\r';
        if (end == rest.npos)
            return bytes.size();
        if (!end_line()) {
            bad_line_ = "a line that ends without a carriage return";
            return good;
        }
        good += end + 1;
    }
    return good;
}

/// Processes a complete line. For example, `$5` announces a bulk string of 5 bytes and a line end,
/// which check_lines() then skips. Returns false if the line ends without a carriage return.
bool answer_reader::end_line() {
    if (!std::exchange(line_ends_in_return_, false))
        return false;
    std::string_view head = line_begins_;
    if (head.starts_with('$') && head.ends_with('\r'))
        if (const auto size = number_in<std::uint32_t>(head.substr(1, head.size() - 2)))
            body_left_ = *size + std::size_t{2};
    line_begins_.clear();
    line_bytes_ = 0;
    return true;
}

reply* answer_reader::next() {
    if (std::exchange(complete_, false)) {
        root_ = {};
        items_ = 0;
        unanswered_bytes_ = reader_->len - reader_->pos;
    }
    void* complete = nullptr;
    if (redisReaderGetReply(reader_.get(), &complete) != REDIS_OK)
        give_up();
    complete_ = complete != nullptr;
    if (!complete_ && bad_line_)
        throw net::failure{store_errc::protocol, bad_line_};
    if (!complete_ && unanswered_bytes_ > bytes_max_)
        throw net::failure{store_errc::protocol,
                           "an answer of more than " + std::to_string(bytes_max_) + " bytes"};
    return static_cast<reply*>(complete);
}

void answer_reader::give_up() const {
    throw net::failure{store_errc::protocol,
                       refused_ ? std::string{refused_}
                                : std::string{"not the Redis protocol: "} + reader_->errstr};
}

namespace {

bool is_printable_word(std::string_view text) {
    constexpr std::size_t length_max = 253;
    const auto printable = [](char c) { return c > ' ' && c < '\x7f'; };
    return !text.empty() && text.size() <= length_max && std::ranges::all_of(text, printable);
}

} // namespace

bool is_host(std::string_view text) {
    return is_printable_word(text) && !text.starts_with('/');
}

bool is_host_beside(std::string_view text, std::string_view asked) {
    return is_printable_word(text) && (!text.starts_with('/') || asked.starts_with('/'));
}

std::optional<std::uint16_t> read_port(std::string_view text) {
    const auto port = number_in<std::uint16_t>(text);
    return port == 0 ? std::nullopt : port;
}

std::optional<server_address> read_host_and_port(std::string_view text, std::string_view asked) {
    const std::size_t colon = text.rfind(':');
    if (colon == text.npos)
        return std::nullopt;
    std::string_view host = text.substr(0, colon);
    if (host.size() > 2 && host.front() == '[' && host.back() == ']')
        host = host.substr(1, host.size() - 2);
    if (host.empty() || host == "?")
        host = asked;
    const auto port = read_port(text.substr(colon + 1));
    if (!port || !is_host_beside(host, asked))
        return std::nullopt;
    return server_address{std::string{host}, *port};
}

std::string_view info_field(std::string_view info, std::string_view field) {
    while (!info.empty()) {
        const std::string_view line = info.substr(0, info.find('\n'));
        info.remove_prefix(std::min(line.size() + 1, info.size()));
        if (line.size() > field.size() && line.starts_with(field) && line[field.size()] == ':')
            return line.substr(field.size() + 1, line.find('\r') - field.size() - 1);
    }
    return {};
}

} // namespace holdfast::redis
