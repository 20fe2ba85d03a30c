// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/wire/reply.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

struct redisReader;

namespace holdfast::redis {

/// Makes answers of the bytes that arrive: hiredis parses, we build the reply. What is not RESP2,
/// or grows over a bound, throws `store_errc::protocol`, and then the connection is of no use.
class answer_reader {
public:
    /// The most items of one answer. A script answers with a handful of items per hold.
    static constexpr std::size_t items_max = 64 * 1024;
    /// The same in a cluster: each slot may have an owner of its own, and CLUSTER SLOTS says some
    /// twenty words of each.
    static constexpr std::size_t items_max_in_cluster = 1024 * 1024;
    /// The most arrays within each other. CLUSTER SLOTS has four, and nothing has more.
    static constexpr std::size_t depth_max = 16;
    /// The longest line: everything but bulk strings is one line.
    static constexpr std::size_t line_bytes_max = 32 * 1024;
    static constexpr std::size_t items_usual = 4; // what scripts answer; not grown one by one

    explicit answer_reader(std::size_t reply_bytes_max, std::size_t items = items_max);
    answer_reader(const answer_reader&) = delete;
    ~answer_reader();

    void feed(std::string_view bytes);

    /// The next complete answer, or null. Valid, and free to be moved from, until the next call.
    reply* next();

private:
    struct frees_reader {
        void operator()(redisReader*) const noexcept;
    };
    struct builder; // what hiredis calls

    void check_lines(std::string_view bytes);
    void end_line();
    [[noreturn]] void give_up() const;

    std::size_t bytes_max_;
    std::size_t items_max_;
    std::size_t body_left_ = 0;        // of a bulk string, with the end of its line
    std::size_t line_bytes_ = 0;       // of the present line
    std::string line_begins_;          // with these bytes, as many as the head of a bulk string has
    std::size_t unanswered_bytes_ = 0; // fed since the last complete answer
    std::size_t items_ = 0;            // of the answer that is being read
    bool complete_ = false;            // root_ is whole, and was handed out
    const char* refused_ = nullptr;    // why we, not hiredis, did not like the answer
    reply root_;
    std::unique_ptr<redisReader, frees_reader> reader_;
};

} // namespace holdfast::redis
