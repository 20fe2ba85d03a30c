// SPDX-License-Identifier: Apache-2.0
#include "store/redis/names.hpp"

#include "redis/topology/slot_map.hpp"

#include <charconv>
#include <cstddef>

namespace holdfast::redis {
namespace {

constexpr std::string_view channel_prefix = "redisson_lock__channel";

std::string_view form_of_braces(std::string_view name) {
    const std::size_t open = name.find('{');
    if (open == name.npos)
        return "a '}' without a '{'";
    if (name.find('}', open) == name.npos)
        return "a '{' without a '}' after it";
    return "an empty '{}' before any other tag";
}

} // namespace

// Adds braces unless the name has an opening brace, as Redisson does. Whether the name has a
// complete hash tag does not matter.
std::string with_prefix(std::string_view prefix, const lock_name& name) {
    const bool has_tag = name.text.find('{') != std::string::npos;
    std::string all;
    all.reserve(prefix.size() + name.text.size() + 3);
    all.append(prefix).append(has_tag ? ":" : ":{").append(name.text).append(has_tag ? "" : "}");
    return all;
}

channel_name lock_channel(const lock_name& name) {
    return channel_name{with_prefix(channel_prefix, name)};
}

channel_name token_channel(const lock_name& name) {
    return channel_name{with_prefix("holdfast_token_lock", name)};
}

std::string token_key(const lock_name& name) {
    return with_prefix("redisson_lock_token", name);
}

std::string waiting_key(const lock_name& name) {
    return with_prefix("holdfast_waiting", name);
}

channel_name waiting_channel(const lock_name& name) {
    return channel_name{waiting_key(name)};
}

std::string inbox_prefix(const lock_name& name) {
    return with_prefix("holdfast_inbox", name);
}

channel_name inbox(const hold& waits) {
    const std::string owner = to_string(waits.owner);
    return channel_name{inbox_prefix(waits.name) + ':' + owner.substr(0, owner.find(':'))};
}

std::string fair_queue(const lock_name& name) {
    return with_prefix("redisson_lock_queue", name);
}

std::string fair_deadlines(const lock_name& name) {
    return with_prefix("redisson_lock_timeout", name);
}

channel_name fair_channel(const hold& waits) {
    return channel_name{lock_channel(waits.name).text + ':' + to_string(waits.owner)};
}

channel_name shared_channel(const lock_name& name) {
    return channel_name{with_prefix("redisson_rwlock", name)};
}

std::string writers_key(const lock_name& name) {
    return with_prefix("holdfast_writers", name);
}

std::string timer_prefix(const lock_name& name) {
    return name.text.find('{') == std::string::npos ? '{' + name.text + '}' : name.text;
}

std::string timer_key(const lock_name& name, std::string_view owner) {
    return timer_prefix(name).append(1, ':').append(owner).append(":rwlock_timeout:1");
}

std::string wish_key(const lock_name& name) {
    return with_prefix("holdfast_asked", name);
}

channel_name wish_channel(const lock_name& name) {
    return channel_name{with_prefix("holdfast_asked", name)};
}

channel_name semaphore_channel(const lock_name& name) {
    return channel_name{with_prefix("redisson_sc", name)};
}

std::string permits_key(const lock_name& name) {
    return timer_prefix(name) + ":timeout";
}

std::string spinners_key(const lock_name& name) {
    return timer_prefix(name) + ":waiters";
}

// Adds braces around the name even if the name has braces already, as Redisson does.
channel_name latch_channel(const lock_name& name) {
    return channel_name{"redisson_countdownlatch__channel__{" + name.text + '}'};
}

std::string requests_key(const lock_name& name, const owner_id& request) {
    const std::string owner = to_string(request);
    return with_prefix("holdfast_requests", name) + ':' + owner.substr(0, owner.find(':'));
}

rate_keys rate_keys_of(const lock_name& name, const std::array<std::uint8_t, 16>& client) {
    const std::string owner = to_string(owner_id{client});
    const std::string behind = ':' + owner.substr(0, owner.find(':'));
    const std::string left = timer_prefix(name) + ":value", draws = timer_prefix(name) + ":permits";
    return {left, left + behind, draws, draws + behind};
}

std::optional<std::string> objection_to_name(const lock_name& name, std::size_t bytes_max) {
    if (name.text.empty())
        return "the name is empty";
    if (name.text.size() > bytes_max)
        return "the name has " + std::to_string(name.text.size()) + " bytes, more than " +
               std::to_string(bytes_max);
    if (hashed_part(name.text) == hashed_part(with_prefix(channel_prefix, name)))
        return std::nullopt;
    return "the name has " + std::string{form_of_braces(name.text)} +
           ": a cluster would put its channel on another node than its key, and Redisson could "
           "lock but never unlock it; use no braces, or a tag that is not empty, as in 'a{b}c'";
}

namespace {

/// Number of hexadecimal digits at the start of a permit id that identify the client (ten bytes of
/// its UUID). The last six bytes of the id are the permit's number.
constexpr std::size_t digits_of_client = 20;

} // namespace

std::string stored_permit(std::string_view id, redisson_form form) {
    if (form != redisson_form::v3_17)
        return std::string{id};
    std::string bytes;
    bytes.reserve(id.size() / 2);
    for (std::size_t i = 0; i + 1 < id.size(); i += 2) {
        unsigned value = 0;
        std::from_chars(id.data() + i, id.data() + i + 2, value, 16);
        bytes.push_back(static_cast<char>(value));
    }
    return bytes;
}

std::string permit_prefix(const owner_id& owner, redisson_form form) {
    const std::string id = permit_id(owner);
    return stored_permit(std::string_view{id}.substr(0, digits_of_client), form);
}

} // namespace holdfast::redis
