// SPDX-License-Identifier: Apache-2.0
#include "redis/answer_reader.hpp"

#include "redis/failure.hpp"

#include <hiredis/read.h>

#include <new>
#include <utility>

namespace holdfast::redis {

/// The functions that hiredis calls for each object. They run below C code, so nothing may leave
/// them but null, which ends the parsing.
struct answer_reader::builder {
    /// Items come one after another, so a claim of a million of them costs nothing until they do.
    /// No earlier item is touched any more when one is added behind it.
    static reply* place(const redisReadTask* task) {
        auto& reader = *static_cast<answer_reader*>(task->privdata);
        if (!task->parent)
            return &reader.root_;
        if (++reader.items_ > items_max) {
            reader.refused_ = true;
            return nullptr;
        }
        auto& items = static_cast<reply*>(task->parent->obj)->items;
        if (items.empty())
            items.reserve(items_usual);
        return &items.emplace_back();
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

    /// RESP3 has more types, which a server may only use with who asked for RESP3.
    static void* refuse(const redisReadTask* task) noexcept {
        static_cast<answer_reader*>(task->privdata)->refused_ = true;
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

    template <typename Count> // int before hiredis 1.0, size_t since
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
        return make(task, [](reply& made) { made.type = reply::kind::nil; });
    }

    static void free_object(void*) {} // all is part of root_

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

answer_reader::answer_reader(std::size_t reply_bytes_max)
    : bytes_max_{reply_bytes_max} {
    static redisReplyObjectFunctions functions = builder::functions<redisReplyObjectFunctions>();
    reader_.reset(redisReaderCreateWithFunctions(&functions));
    if (!reader_)
        throw std::bad_alloc{};
    reader_->privdata = this;
    reader_->maxbuf = 1024 * 1024; // keep the buffer: by default every large read gives it back
}

answer_reader::~answer_reader() = default;

void answer_reader::frees_reader::operator()(redisReader* reader) const noexcept {
    redisReaderFree(reader);
}

void answer_reader::feed(std::string_view bytes) {
    unanswered_bytes_ += bytes.size();
    if (redisReaderFeed(reader_.get(), bytes.data(), bytes.size()) != REDIS_OK)
        give_up();
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
    if (!complete_ && unanswered_bytes_ > bytes_max_)
        throw failure{store_errc::protocol,
                      "an answer of more than " + std::to_string(bytes_max_) + " bytes"};
    return static_cast<reply*>(complete);
}

void answer_reader::give_up() const {
    throw failure{store_errc::protocol,
                  refused_ ? "an answer that is none of RESP2, or of too many items"
                           : std::string{"not the Redis protocol: "} + reader_->errstr};
}

} // namespace holdfast::redis
