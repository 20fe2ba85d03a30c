// SPDX-License-Identifier: Apache-2.0
#include "store/redis/fenced_requests.hpp"

#include "store/redis/lock_replies.hpp"
#include "store/redis/names.hpp"
#include "store/redis/scripts.hpp"

#include <string>
#include <string_view>

namespace holdfast::redis {
namespace {

attempt fenced_attempt_in(const reply& answer) {
    attempt outcome = attempt_in<4>(answer);
    const std::int64_t token = integer(answer.items[3]);
    if ((outcome.said == verdict::granted) != (token > 0))
        throw_unexpected_answer();
    outcome.token = static_cast<std::uint64_t>(token);
    return outcome;
}

std::uint64_t token_in(const reply& answer) {
    const std::int64_t token = integer(answer);
    if (token < 0)
        throw_unexpected_answer();
    return static_cast<std::uint64_t>(token);
}

} // namespace

asio::awaitable<attempt> lock_fenced(node& server, const ask& want, server_deadline deadline) {
    const std::string owner = to_string(want.owner);
    const std::string token = token_key(want.name);
    const std::string_view keys[] = {want.name.text, token};
    const argument arguments[] = {want.lease_time.count(), owner, deadline,
                                  static_cast<std::int64_t>(want.tokens),
                                  std::int64_t{want.numbers == fencing::dated}};
    const reply answer = co_await server.call(scripts::lock_fenced, keys, arguments,
                                              confirmed_by(want.replicas, want.lease_time));
    co_return checked(server, answer, fenced_attempt_in);
}

asio::awaitable<std::uint64_t> last_token(node& server, const lock_name& name) {
    const std::string token = token_key(name);
    const std::string_view keys[] = {token};
    const reply answer = co_await server.call(scripts::last_token, keys, {});
    co_return checked(server, answer, token_in);
}

} // namespace holdfast::redis
