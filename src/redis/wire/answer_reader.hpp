// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/wire/reply.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

struct redisReader;

namespace holdfast::redis {

/// Parser of the received bytes. hiredis splits them, and this class builds the replies. Throws
/// `store_errc::protocol` if the bytes are not RESP2 or exceed a limit. The connection cannot be
/// used any more then.
class answer_reader {
public:
    /// Maximum number of items in one reply. A script replies with a few items for each hold.
    static constexpr std::size_t items_max = 64 * 1024;
    /// Maximum number of items in one reply of a cluster node. Each slot may have a different
    /// owner, and CLUSTER SLOTS has about twenty items for each range of slots.
    static constexpr std::size_t items_max_in_cluster = 1024 * 1024;
    /// Maximum nesting of arrays. CLUSTER SLOTS has four levels; no other reply has more.
    static constexpr std::size_t depth_max = 16;
    /// Maximum length of a line in bytes. Everything except bulk strings is one line.
    static constexpr std::size_t line_bytes_max = 32 * 1024;
    // Usual number of items in a script's reply. Memory for them is reserved at once.
    static constexpr std::size_t items_usual = 4;

    explicit answer_reader(std::size_t reply_bytes_max, std::size_t items = items_max);
    answer_reader(const answer_reader&) = delete;
    ~answer_reader();

    void feed(std::string_view bytes);

    /// Returns the next complete reply, or null. The reply is valid until the next call of next(),
    /// and the caller may move from it.
    reply* next();

private:
    struct frees_reader {
        void operator()(redisReader*) const noexcept;
    };
    struct builder; // callbacks for hiredis

    void check_lines(std::string_view bytes);
    void end_line();
    [[noreturn]] void give_up() const;

    std::size_t bytes_max_;
    std::size_t items_max_;
    std::size_t body_left_ = 0;        // missing bytes of a bulk string and its line end
    std::size_t line_bytes_ = 0;       // length of the present line so far
    std::string line_begins_;          // its first bytes, enough for the head of a bulk string
    std::size_t unanswered_bytes_ = 0; // bytes since the last complete reply
    std::size_t items_ = 0;            // number of items in the present reply
    bool complete_ = false;            // whether root_ is complete and was returned
    const char* refused_ = nullptr;    // why this class, and not hiredis, refused the reply
    reply root_;
    std::unique_ptr<redisReader, frees_reader> reader_;
};

} // namespace holdfast::redis
