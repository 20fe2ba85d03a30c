// SPDX-License-Identifier: Apache-2.0
#include "store/redis/lock_states.hpp"

#include "store/redis/client_cards.hpp"
#include "store/redis/names.hpp"
#include "store/redis/replies.hpp"
#include "store/redis/scripts.hpp"

#include <boost/system/system_error.hpp>

#include <algorithm>
#include <charconv>
#include <set>
#include <string_view>
#include <utility>

namespace holdfast::redis {
namespace {

/// Before the fields of a hash come its type, what is left, who listens, the last token, and how
/// many fields.
constexpr std::size_t words_before_fields = 5;

std::optional<std::int64_t> number_in(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failed != std::errc{} || end != text.data() + text.size() || value < 0)
        return std::nullopt;
    return value;
}

/// `<uuid>:<number>`, and behind it `:write` in a read-write lock. Ours and every Redisson's.
bool looks_like_owner(std::string_view field) {
    constexpr std::string_view form = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx:";
    constexpr std::string_view hexadecimal = "0123456789abcdefABCDEF", write = ":write";
    if (field.size() <= form.size())
        return false;
    for (std::size_t i = 0; i < form.size(); ++i)
        if (form[i] == 'x' ? hexadecimal.find(field[i]) == hexadecimal.npos : field[i] != form[i])
            return false;
    if (field.ends_with(write))
        field.remove_suffix(write.size());
    return number_in(field.substr(form.size())).has_value();
}

/// The fields of a hash, judged: those of a lock are owners and how often each has entered.
void add_owners(lock_state& told, const reply& answer) {
    const std::int64_t fields = integer(answer.items[4]);
    bool has_mode = false, has_else = false;
    for (std::size_t i = words_before_fields; i + 1 < answer.items.size(); i += 2) {
        const std::string& field = answer.items[i].text;
        const std::string& value = answer.items[i + 1].text;
        const std::optional<std::int64_t> count = number_in(value);
        if (field == "mode" && (value == "read" || value == "write"))
            has_mode = true;
        else if (count && looks_like_owner(field))
            told.owners.push_back({field, *count, client_key(field).has_value(), {}});
        else
            has_else = true;
    }
    if (has_mode && !has_else)
        told.kind = key_kind::read_write_lock;
    else if (fields == 1 && told.owners.size() == 1 && !has_else)
        told.kind = key_kind::lock;
    else
        told.owners.clear();
}

/// Of all owners that are ours, each once.
std::vector<std::string> clients_of(const std::vector<lock_state>& locks) {
    std::set<std::string> keys;
    for (const lock_state& each : locks)
        for (const lock_owner& owner : each.owners)
            if (const auto key = client_key(owner.text))
                keys.insert(*key);
    return {keys.begin(), keys.end()};
}

/// A user who may not ask who clients are still learns whose owners there are.
asio::awaitable<std::vector<std::optional<client_card>>>
read_what_may_be_read(node& server, std::vector<std::string> keys) {
    try {
        co_return co_await read_clients(server, keys);
    } catch (const boost::system::system_error& why) {
        if (why.code() != store_errc::no_permission)
            throw;
    }
    co_return std::vector<std::optional<client_card>>(keys.size());
}

asio::awaitable<void> add_clients(node& server, std::vector<lock_state>& locks) {
    const std::vector<std::string> keys = clients_of(locks);
    if (keys.empty())
        co_return;
    const auto cards = co_await read_what_may_be_read(server, keys);
    for (lock_state& each : locks)
        for (lock_owner& owner : each.owners)
            if (const auto key = client_key(owner.text)) {
                const auto at = std::ranges::lower_bound(keys, *key);
                owner.client = cards[static_cast<std::size_t>(at - keys.begin())];
            }
}

std::vector<lock_state> states_in(const std::vector<std::string>& names, const reply& said) {
    const std::vector<reply>& told = items(said, names.size());
    std::vector<lock_state> found;
    for (std::size_t i = 0; i < names.size(); ++i)
        if (auto one = lock_state_in(names[i], told[i]))
            found.push_back(std::move(*one));
    return found;
}

} // namespace

std::optional<lock_state> lock_state_in(std::string name, const reply& told) {
    const std::vector<reply>& words = items(told);
    if (words.size() < words_before_fields)
        throw_unexpected_answer();
    lock_state found;
    found.name = std::move(name);
    found.type = text(words[0]);
    found.kind = key_kind::other;
    if (found.type == "none")
        return std::nullopt;
    if (const std::int64_t left = integer(words[1]); left >= 0)
        found.remaining = duration{left};
    if (const std::int64_t listeners = integer(words[2]); listeners >= 0)
        found.listeners = static_cast<std::size_t>(listeners);
    if (const std::int64_t token = integer(words[3]); token > 0)
        found.last_token = static_cast<std::uint64_t>(token);
    if (found.type == "hash")
        add_owners(found, told);
    return found;
}

asio::awaitable<std::vector<lock_state>> describe_locks(node& server,
                                                        std::vector<std::string> names) {
    std::vector<std::string> belongings;
    belongings.reserve(2 * names.size());
    for (const std::string& each : names)
        belongings.push_back(lock_channel(each).text);
    for (const std::string& each : names)
        belongings.push_back(token_key(each));
    const std::vector<std::string_view> keys{names.begin(), names.end()};
    const std::vector<argument> arguments{belongings.begin(), belongings.end()};
    const reply answer = co_await server.call(scripts::describe_locks, keys, arguments);
    const auto read = [&names](const reply& said) { return states_in(names, said); };
    std::vector<lock_state> found = checked(server, answer, read);
    co_await add_clients(server, found);
    co_return found;
}

} // namespace holdfast::redis
