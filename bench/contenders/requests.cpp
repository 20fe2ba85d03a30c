// SPDX-License-Identifier: Apache-2.0
#include "bench/contenders/requests.hpp"

#include "bench/contenders/arena.hpp"
#include "store/redis/scripts.hpp"

#include <stdexcept>

namespace holdfast::bench {
namespace {

using namespace std::chrono_literals;
namespace scripts = redis::scripts;

constexpr auto command_timeout = 3s; // the library's default

/// Throws if the script failed. Both scripts return {1, …} on success.
void expect_done(const redisReply& answer, const char* otherwise) {
    if (answer.type != REDIS_REPLY_ARRAY || answer.elements == 0 || answer.element[0]->integer != 1)
        throw std::runtime_error{otherwise};
}

} // namespace

void append_request(std::string& out, std::initializer_list<std::string_view> words) {
    const auto number = [&out](char kind, std::size_t n) {
        out += kind;
        out += std::to_string(n);
        out += "\r\n";
    };
    number('*', words.size());
    for (const std::string_view word : words) {
        number('$', word.size());
        out += word;
        out += "\r\n";
    }
}

void append_wait(std::string& out, int replicas) {
    append_request(out, {"WAIT", std::to_string(replicas), "1000"}); // the library's timeout
}

void expect_confirmed(const redisReply& answer, int replicas) {
    if (answer.type != REDIS_REPLY_INTEGER || answer.integer < replicas)
        throw std::runtime_error{"too few replicas confirmed a lock"};
}

std::string next_deadline() {
    const auto deadline = std::chrono::system_clock::now() + command_timeout;
    const auto us = std::chrono::floor<std::chrono::microseconds>(deadline.time_since_epoch());
    return std::to_string(us.count());
}

requests::requests(int lock, const connection& to, std::string_view telling)
    : name_{name_of_lock(lock)}
    , channel_{"redisson_lock__channel:{" + name_ + "}"}
    , telling_{telling} {
    ask(to, {"SCRIPT", "LOAD", scripts::lock_mutex.text});
    ask(to, {"SCRIPT", "LOAD", scripts::release_mutex.text});
}

void requests::append_lock(std::string& out) {
    owner_ = "00000000-0000-8000-8000-000000000000:" + std::to_string(++number_);
    append_request(
        out, {"EVALSHA", scripts::lock_mutex.sha1, "1", name_, lease_ms, owner_, next_deadline()});
}

void requests::append_release(std::string& out) const {
    append_request(
        out, {"EVALSHA", scripts::release_mutex.sha1, "1", name_, owner_, channel_, telling_});
}

void requests::expect_granted(const redisReply& answer) {
    expect_done(answer, "a free lock was not granted");
}

void requests::expect_released(const redisReply& answer) {
    expect_done(answer, "a lock was lost before its release");
}

set_nx_requests::set_nx_requests(int lock, const connection& to)
    : name_{name_of_lock(lock)} {
    const reply sha1 = ask(to, {"SCRIPT", "LOAD", R"(
if redis.call('get', KEYS[1]) == ARGV[1] then
    return redis.call('del', KEYS[1])
end
return 0
)"});
    release_sha1_.assign(sha1->str, sha1->len);
}

void set_nx_requests::append_lock(std::string& out) {
    token_ = "00000000-0000-8000-8000-" + std::to_string(100'000'000'000 + ++number_);
    append_request(out, {"SET", name_, token_, "NX", "PX", lease_ms});
}

void set_nx_requests::append_release(std::string& out) const {
    append_request(out, {"EVALSHA", release_sha1_, "1", name_, token_});
}

void set_nx_requests::expect_granted(const redisReply& answer) {
    if (answer.type != REDIS_REPLY_STATUS)
        throw std::runtime_error{"a free lock was not granted"};
}

void set_nx_requests::expect_released(const redisReply& answer) {
    if (answer.integer != 1)
        throw std::runtime_error{"a lock was lost before its release"};
}

} // namespace holdfast::bench
