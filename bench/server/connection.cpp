// SPDX-License-Identifier: Apache-2.0
#include "bench/server/connection.hpp"

#include <stdexcept>
#include <string>

namespace holdfast::bench {

reply next_answer(const connection& to) {
    void* raw = nullptr;
    redisGetReply(to.get(), &raw);
    reply answer{static_cast<redisReply*>(raw)};
    expect_answer(*to, answer.get());
    return answer;
}

void expect_answer(const redisContext& context, const redisReply* answer) {
    if (!answer)
        throw std::runtime_error{std::string{"the connection broke: "} + context.errstr};
    if (answer->type == REDIS_REPLY_ERROR)
        throw server_error{"the server answered " + std::string{answer->str, answer->len}};
}

reply ask(const connection& to, const std::vector<std::string_view>& words) {
    std::vector<const char*> texts;
    std::vector<std::size_t> sizes;
    for (const std::string_view word : words) {
        texts.push_back(word.data());
        sizes.push_back(word.size());
    }
    redisAppendCommandArgv(to.get(), static_cast<int>(words.size()), texts.data(), sizes.data());
    return next_answer(to);
}

reply ask_composed(const connection& to, std::string_view request) {
    redisAppendFormattedCommand(to.get(), request.data(), request.size());
    return next_answer(to);
}

} // namespace holdfast::bench
