// SPDX-License-Identifier: Apache-2.0
#include "store/redis/inspector.hpp"

#include "store/redis/client_cards.hpp"
#include "store/redis/confirmation.hpp"
#include "store/redis/fenced_requests.hpp"
#include "store/redis/lock_states.hpp"
#include "store/redis/name_finder.hpp"
#include "store/redis/names.hpp"
#include "store/redis/replies.hpp"
#include "store/redis/scripts.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace holdfast::redis {
namespace {

class release_watch final : public watch {
public:
    explicit release_watch(std::unique_ptr<hearing> ear)
        : ear_{std::move(ear)} {}

private:
    std::unique_ptr<hearing> ear_;
};

asio::awaitable<reply> fields_of(node& server, const lock_name& name) {
    const std::string_view keys[] = {name.text};
    co_return co_await server.call(scripts::inspect_lock, keys, {});
}

/// Returns whether the reply of inspect_lock describes a string. The value of the string is then in
/// a nested list.
bool is_token(const reply& answer) {
    const std::vector<reply>& said = items(answer);
    return said.size() == 2 && said.back().type == reply::kind::array;
}

std::optional<holding> holding_in(const reply& answer) {
    const std::vector<reply>& said = items(answer);
    if (said.empty())
        return std::nullopt;
    holding found;
    if (const std::int64_t left = integer(said.front()); left >= 0)
        found.remaining = duration{left};
    if (is_token(answer)) {
        found.owners.push_back(text(items(said.back(), 1).front()));
        found.tells = client_key(found.owners.front()).has_value();
        found.kind = key_kind::token_lock;
        return found;
    }
    bool has_mode = false, has_reader = false, has_writer = false;
    for (auto field = said.begin() + 1; field != said.end(); ++field) {
        if (text(*field) == "mode") {
            has_mode = true;
            continue;
        }
        (text(*field).ends_with(":write") ? has_writer : has_reader) = true;
        found.owners.push_back(text(*field));
    }
    found.kind = has_mode ? key_kind::read_write_lock : key_kind::lock;
    found.alone = !has_mode || has_writer;
    found.shared = has_mode && has_reader;
    return found;
}

/// Returns whether the reply of inspect_lock describes a read-write lock.
bool has_mode(const reply& answer) {
    const std::vector<reply>& said = items(answer);
    const auto is_mode = [](const reply& word) { return word.text == "mode"; };
    return std::ranges::any_of(said, is_mode);
}

/// Subscribes to the release notifications of a lock. The channel depends on the kind of the lock.
std::unique_ptr<hearing> releases_of(node& server, const reply& answer, const lock_name& name,
                                     alarm& wake) {
    if (is_token(answer))
        return server.hear(token_channel(name), wake);
    if (has_mode(answer)) // no lingering, because JVMs count the subscribers
        return server.hear(shared_channel(name), wake, linger::none);
    return server.hear(lock_channel(name), wake);
}

/// Returns the part of the script's error that says what the key is.
std::string what_is_told(std::string_view error) {
    constexpr std::string_view before = "the key is ", behind = ", and a lock was asked for";
    const std::size_t begin = error.find(before), end = error.find(behind);
    if (begin == error.npos || end == error.npos || end < begin)
        return "something that is no lock";
    return std::string{error.substr(begin + before.size(), end - begin - before.size())};
}

enum class force_verdict { free = 0, taken = 1, late = 2, others = 3 };

std::pair<attempt, forced> force_in(const reply& answer) {
    const std::vector<reply>& said = items(answer);
    if (said.size() < 2)
        throw_unexpected_answer();
    const auto outcome = static_cast<force_verdict>(integer_up_to(3, said[0]));
    attempt seen;
    seen.said = outcome == force_verdict::late ? verdict::late : verdict::granted;
    seen.server_now = std::chrono::microseconds{integer(said[1])};
    came_by(answer, seen);
    forced what{.was_locked = outcome == force_verdict::taken};
    for (auto owner = said.begin() + 2; owner != said.end(); ++owner)
        what.owners.push_back(text(*owner));
    return {seen, std::move(what)};
}

} // namespace

asio::awaitable<std::optional<holding>> lock_inspector::inspect(lock_name name) {
    holding other;
    try {
        const reply answer = co_await fields_of(server_, name);
        co_return checked(server_, answer, holding_in);
    } catch (const boost::system::system_error& why) {
        if (why.code() != store_errc::wrong_type)
            throw;
        other.kind = key_kind::other;
        other.other = what_is_told(why.what());
    }
    co_return other;
}

asio::awaitable<forced> lock_inspector::force_release(lock_name name, std::string only_from) {
    return force(std::move(name), std::move(only_from), {});
}

asio::awaitable<forced> lock_inspector::force_kind(lock_name name, lock_kind kind) {
    const char* const mode = kind == lock_kind::read    ? "read"
                             : kind == lock_kind::write ? "write"
                             : kind == lock_kind::token ? "token"
                                                        : "mutex";
    return force(std::move(name), {}, mode);
}

asio::awaitable<forced> lock_inspector::force(lock_name name, std::string only_from,
                                              std::string_view mode) {
    forced outcome;
    const ask nobody{std::move(name), {}, lock_kind::plain};
    remote::attempts::sender send = [&](time_point deadline) {
        return force_by(server_deadline{deadline}, nobody.name, only_from, mode, outcome);
    };
    // Send the request like a waiter's first request, which may use the store's whole time limit.
    // If the request is late, the server does nothing.
    remote::attempts one{context_, nobody, server_.command_timeout()};
    co_await one.look(std::move(send), duration::zero(), duration::zero());
    co_return outcome;
}

asio::awaitable<std::uint64_t> lock_inspector::last_token(lock_name name) {
    co_return co_await redis::last_token(server_, name);
}

asio::awaitable<attempt> lock_inspector::force_by(server_deadline deadline, const lock_name& name,
                                                  const std::string& only_from,
                                                  std::string_view mode, forced& outcome) {
    const std::string of_plain = lock_channel(name).text;
    const std::string of_shared = shared_channel(name).text;
    const std::string of_token = token_channel(name).text;
    const std::string queue = fair_queue(name);
    const std::string deadlines = fair_deadlines(name);
    const std::string_view keys[] = {name.text};
    const publishing way = server_.telling_commands();
    const argument arguments[] = {deadline,    std::string_view{only_from},
                                  way.command, of_plain,
                                  of_shared,   queue,
                                  deadlines,   mode,
                                  of_token,    way.other};
    const reply answer =
        co_await server_.call(scripts::force_lock, keys, telling_by(way, arguments));
    auto [seen, what] = checked(server_, answer, force_in);
    outcome = std::move(what);
    co_return seen;
}

asio::awaitable<std::optional<lock_state>> lock_inspector::describe(lock_name name) {
    std::vector<std::string> one;
    one.push_back(std::move(name.text));
    std::vector<lock_state> found = co_await describe_locks(server_, std::move(one));
    if (found.empty())
        co_return std::nullopt;
    co_return std::move(found.front());
}

asio::awaitable<lock_list> lock_inspector::list(std::string pattern, std::size_t limit) {
    found_names found = co_await find_locks(server_, std::move(pattern), limit);
    lock_list all{{}, found.complete, std::move(found.unreachable)};
    for (std::span<const std::string> rest{found.names}; !rest.empty();) {
        const auto some = rest.first(std::min(rest.size(), described_at_once_max));
        std::vector<std::string> batch{some.begin(), some.end()};
        rest = rest.subspan(some.size());
        std::vector<lock_state> described = co_await describe_locks(server_, std::move(batch));
        for (lock_state& each : described)
            // If the check fails, the lock was released or replaced meanwhile.
            if (each.is_held && each.kind != key_kind::other)
                all.locks.push_back(std::move(each));
    }
    co_return all;
}

/// Subscribes to the releases of a lock. For a fair lock no release is heard, because it notifies
/// only the next waiter of its queue.
asio::awaitable<std::unique_ptr<watch>> lock_inspector::listen(lock_name name, alarm& wake) {
    const reply answer = co_await fields_of(server_, name);
    const auto hear = [&](const reply& said) { return releases_of(server_, said, name, wake); };
    std::unique_ptr<hearing> ear = checked(server_, answer, hear);
    const time_point give_up_at = context_.time.now() + confirmation_patience;
    const bool is_heard = co_await ear->confirmed(give_up_at);
    if (!is_heard)
        co_return nullptr;
    co_return std::make_unique<release_watch>(std::move(ear));
}

} // namespace holdfast::redis
