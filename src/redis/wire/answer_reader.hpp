// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/wire/reply.hpp"

#include <cstddef>
#include <memory>
#include <string_view>

struct redisReader;

namespace holdfast::redis {

/// Makes answers of the bytes that arrive: hiredis parses, we build the reply. What is not RESP2,
/// or grows over a bound, throws `store_errc::protocol`, and then the connection is of no use.
class answer_reader {
public:
    /// A script answers with a handful of items per hold, so this is a server gone mad.
    static constexpr std::size_t items_max = 64 * 1024;
    static constexpr std::size_t items_usual = 4; // what scripts answer; not grown one by one

    explicit answer_reader(std::size_t reply_bytes_max);
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

    [[noreturn]] void give_up() const;

    std::size_t bytes_max_;
    std::size_t unanswered_bytes_ = 0; // fed since the last complete answer
    std::size_t items_ = 0;            // of the answer that is being read
    bool complete_ = false;            // root_ is whole, and was handed out
    bool refused_ = false;             // we, not hiredis, did not like the answer
    reply root_;
    std::unique_ptr<redisReader, frees_reader> reader_;
};

} // namespace holdfast::redis
