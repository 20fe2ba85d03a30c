// SPDX-License-Identifier: Apache-2.0
#include "store/redis/lock_states.hpp"

#include "store/redis/by_slot.hpp"
#include "store/redis/client_cards.hpp"
#include "store/redis/names.hpp"
#include "store/redis/replies.hpp"
#include "store/redis/scripts.hpp"

#include <boost/system/system_error.hpp>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <functional>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

namespace holdfast::redis {
namespace {

/// Fields of the script's reply about a key, in order.
enum told_of_key : std::size_t {
    its_type,
    its_left,
    its_listeners,
    its_token,
    its_field_count,
    its_fields,
    its_waiting,
    its_waiters,
    told_of_key_count
};

/// Number of words for each entry of a list. The words are field, value and lease of a holder, or
/// name, time and listeners of a waiter.
constexpr std::size_t words_each = 3;

constexpr std::string_view write_mark = ":write";

std::optional<std::int64_t> number_in(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failed != std::errc{} || end != text.data() + text.size() || value < 0)
        return std::nullopt;
    return value;
}

/// Returns whether the field has the form `<uuid>:<number>`. In a read-write lock `:write` may
/// follow. All owners of holdfast and of every Redisson version have this form.
bool looks_like_owner(std::string_view field) {
    constexpr std::string_view form = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx:";
    constexpr std::string_view hexadecimal = "0123456789abcdefABCDEF";
    if (field.size() <= form.size())
        return false;
    for (std::size_t i = 0; i < form.size(); ++i)
        if (form[i] == 'x' ? hexadecimal.find(field[i]) == hexadecimal.npos : field[i] != form[i])
            return false;
    if (field.ends_with(write_mark))
        field.remove_suffix(write_mark.size());
    return number_in(field.substr(form.size())).has_value();
}

const std::vector<reply>& triples(const reply& list) {
    const std::vector<reply>& words = items(list);
    if (words.size() % words_each != 0)
        throw_unexpected_answer();
    return words;
}

/// Returns the lease of a reader, from its timer. A holdfast reader without a timer is dead. A
/// JVM's reader without a timer may live, because some JVMs let timers run out (lock_write.lua).
std::optional<duration> own_lease(const lock_owner& owner, std::int64_t left) {
    constexpr std::int64_t none = -2;
    if (left >= 0)
        return duration{left};
    return left == none && owner.is_holdfast ? std::optional{duration::zero()} : std::nullopt;
}

lock_owner owner_of(const std::string& field, std::int64_t count, std::int64_t left) {
    lock_owner told{.text = field, .count = count, .is_holdfast = client_key(field).has_value()};
    told.writes = field.ends_with(write_mark);
    if (!told.writes)
        told.remaining = own_lease(told, left);
    return told;
}

/// Decides from the fields of a hash whether the hash is a lock. The fields of a lock are its
/// owners, each with the number of its entries.
void add_owners(lock_state& told, const reply& answer) {
    const std::int64_t fields = integer(answer.items[its_field_count]);
    const std::vector<reply>& words = triples(answer.items[its_fields]);
    bool has_mode = false, has_else = false;
    for (std::size_t i = 0; i < words.size(); i += words_each) {
        const std::string& field = words[i].text;
        const std::string& value = words[i + 1].text;
        const std::optional<std::int64_t> count = number_in(value);
        if (field == "mode" && (value == "read" || value == "write"))
            has_mode = true;
        else if (count && looks_like_owner(field))
            told.owners.push_back(owner_of(field, *count, integer(words[i + 2])));
        else
            has_else = true;
    }
    if (has_mode && !has_else)
        told.kind = key_kind::read_write_lock;
    else if (fields == 1 && told.owners.size() == 1 && !has_else)
        told.kind = key_kind::lock;
    else
        told.owners.clear();
    std::stable_partition(told.owners.begin(), told.owners.end(), std::mem_fn(&lock_owner::writes));
    if (told.kind == key_kind::lock) // a lock of this kind has the key's lease
        told.owners.front().remaining.reset();
}

/// Returns whether a string looks like the token of a program: random letters and digits, or a
/// holdfast owner. The result is a guess, because a user's data may look the same.
bool looks_like_token(std::string_view value) {
    constexpr std::size_t least = 16, most = 64;
    constexpr std::string_view also = "+/=_:.-";
    const auto fits = [also](char letter) {
        return std::isalnum(static_cast<unsigned char>(letter)) != 0 ||
               also.find(letter) != also.npos;
    };
    return value.size() >= least && value.size() <= most && std::ranges::all_of(value, fits);
}

/// Decides whether a string is a lock. The string of a lock is the token of its only owner.
void add_token(lock_state& told, const reply& answer) {
    const std::vector<reply>& words = triples(answer.items[its_fields]);
    const std::string value = words.empty() ? "" : text(words.front());
    if (!looks_like_token(value))
        return;
    told.kind = key_kind::token_lock;
    told.owners.push_back({.text = value, .is_holdfast = client_key(value).has_value()});
}

void add_waiters(lock_state& told, const reply& answer) {
    if (const std::int64_t count = integer(answer.items[its_waiting]); count >= 0)
        told.waiting = static_cast<std::size_t>(count);
    const std::vector<reply>& words = triples(answer.items[its_waiters]);
    for (std::size_t i = 0; i < words.size(); i += words_each) {
        lock_waiter one{.text = text(words[i])};
        one.is_holdfast = client_key(one.text).has_value();
        if (const std::int64_t left = integer(words[i + 1]); left >= 0)
            one.remaining = duration{left};
        if (const std::int64_t listeners = integer(words[i + 2]); listeners >= 0)
            one.listens = listeners > 0;
        told.waiters.push_back(std::move(one));
    }
}

/// Calls `act` for each owner and each waiter of a holdfast client. Passes the owner or waiter, and
/// the key that describes its client.
template <typename Locks, typename Act>
void for_each_of_ours(Locks& locks, Act act) {
    for (auto& each : locks) {
        for (auto& owner : each.owners)
            if (const auto key = client_key(owner.text))
                act(owner, *key);
        for (auto& waiter : each.waiters)
            if (const auto key = client_key(waiter.text))
                act(waiter, *key);
    }
}

/// Returns the keys that describe the clients, without duplicates.
std::vector<std::string> clients_of(const std::vector<lock_state>& locks) {
    std::set<std::string> keys;
    for_each_of_ours(locks, [&](const auto&, const std::string& key) { keys.insert(key); });
    return {keys.begin(), keys.end()};
}

/// Reads the descriptions of clients as far as possible. If an ACL forbids the read, the user still
/// gets the owners. The same is true if one request cannot read about several clients (CROSSSLOT).
asio::awaitable<std::vector<std::optional<client_card>>>
read_what_may_be_read(node& server, std::vector<std::string> keys) {
    try {
        co_return co_await read_clients(server, keys);
    } catch (const boost::system::system_error& why) {
        if (why.code() != store_errc::no_permission && why.code() != store_errc::other)
            throw;
    }
    co_return std::vector<std::optional<client_card>>(keys.size());
}

asio::awaitable<void> add_clients(node& server, std::vector<lock_state>& locks) {
    const std::vector<std::string> keys = clients_of(locks);
    if (keys.empty())
        co_return;
    const auto cards = co_await read_what_may_be_read(server, keys);
    for_each_of_ours(locks, [&](auto& one, const std::string& key) {
        const auto at = std::ranges::lower_bound(keys, key);
        one.client = cards[static_cast<std::size_t>(at - keys.begin())];
    });
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
    if (words.size() != told_of_key_count)
        throw_unexpected_answer();
    lock_state found;
    found.name = std::move(name);
    found.type = text(words[its_type]);
    found.kind = key_kind::other;
    add_waiters(found, told);
    found.is_held = found.type != "none";
    if (!found.is_held && found.waiters.empty())
        return std::nullopt;
    if (const std::int64_t left = integer(words[its_left]); left >= 0)
        found.remaining = duration{left};
    if (const std::int64_t listeners = integer(words[its_listeners]); listeners >= 0)
        found.listeners = static_cast<std::size_t>(listeners);
    if (const std::int64_t token = integer(words[its_token]); token > 0)
        found.last_token = static_cast<std::uint64_t>(token);
    if (!found.is_held)
        found.kind = key_kind::lock;
    else if (found.type == "hash")
        add_owners(found, told);
    else if (found.type == "string")
        add_token(found, told);
    return found;
}

namespace {

/// Describes locks whose names are all in one slot.
asio::awaitable<std::vector<lock_state>> describe_some(node& server,
                                                       std::vector<std::string> names) {
    using belonging = std::string (*)(const lock_name&);
    const belonging all_of[] = {[](const lock_name& name) { return lock_channel(name).text; },
                                token_key,
                                fair_queue,
                                fair_deadlines,
                                [](const lock_name& name) { return shared_channel(name).text; },
                                writers_key,
                                timer_prefix,
                                [](const lock_name& name) { return token_channel(name).text; }};
    std::vector<std::string> belongings;
    belongings.reserve(std::size(all_of) * names.size());
    for (const belonging its : all_of)
        for (const std::string& each : names)
            belongings.push_back(its(each));
    const std::vector<std::string_view> keys{names.begin(), names.end()};
    const std::vector<argument> arguments{belongings.begin(), belongings.end()};
    const reply answer = co_await server.call(scripts::describe_locks, keys, arguments);
    const auto read = [&names](const reply& said) { return states_in(names, said); };
    co_return checked(server, answer, read);
}

} // namespace

asio::awaitable<std::vector<lock_state>> describe_locks(node& server,
                                                        std::vector<std::string> names) {
    std::vector<lock_state> found;
    std::vector<std::vector<std::string>> groups = by_slot(server, std::move(names));
    for (std::vector<std::string>& some : groups) {
        std::vector<lock_state> described = co_await describe_some(server, std::move(some));
        std::ranges::move(described, std::back_inserter(found));
    }
    std::ranges::stable_sort(found, {}, &lock_state::name);
    co_await add_clients(server, found);
    co_return found;
}

} // namespace holdfast::redis
