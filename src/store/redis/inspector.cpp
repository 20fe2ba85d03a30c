// SPDX-License-Identifier: Apache-2.0
#include "store/redis/inspector.hpp"

#include "net/failure.hpp"
#include "store/redis/client_info.hpp"
#include "store/redis/names.hpp"
#include "store/redis/replies.hpp"
#include "store/redis/scripts.hpp"

#include <boost/system/system_error.hpp>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <exception>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace holdfast::redis {
namespace {

/// Number of keys that one step of a search scans. A step takes a fraction of a millisecond.
constexpr std::int64_t keys_in_step = 250;

/// Maximum number of steps of a search. All steps together take some seconds.
constexpr int steps_max = 20'000;

/// Returns the words in the reply to one step of a search: the cursor of the next step, and then
/// the names that were found.
std::vector<std::string> words_in(const reply& step) {
    std::vector<std::string> words;
    for (const reply& each : items(step))
        words.push_back(text(each));
    if (words.empty())
        throw_unexpected_answer();
    return words;
}

std::string_view word_of(counter_kind kind) {
    switch (kind) {
    case counter_kind::permits:
        return "permits";
    case counter_kind::rate:
        return "rate";
    case counter_kind::semaphore:
    case counter_kind::latch:
        break;
    }
    return "number";
}

/// Parameters and results of a search.
struct search {
    const script& by;
    const std::string pattern;
    const std::size_t limit;
    const std::string_view kind;   ///< kind of counter; empty if the script knows only one kind
    std::set<std::string> names{}; // a set, because SCAN may return a name several times
    bool complete = true;
    std::vector<std::string> unreachable{};
};

asio::awaitable<void> find_at(node& server, shard where, search& what) {
    std::string cursor = "0";
    for (int steps = 0; steps < steps_max; ++steps) {
        const argument arguments[] = {std::string_view{cursor}, std::string_view{what.pattern},
                                      keys_in_step, what.kind};
        const reply step = co_await server.call_at(where, what.by, arguments);
        const std::vector<std::string> words = checked(server, step, words_in);
        for (auto name = words.begin() + 1; name != words.end(); ++name) {
            if (what.names.size() == what.limit && !what.names.contains(*name)) {
                what.complete = false;
                co_return;
            }
            what.names.insert(*name);
        }
        cursor = words.front();
        if (cursor == "0")
            co_return;
    }
    what.complete = false;
}

/// Searches all servers. If only some servers can be asked, the result is incomplete. If no server
/// can be asked, throws the error of a server.
asio::awaitable<found_names> find(node& server, search what) {
    std::exception_ptr trouble;
    bool any = false;
    const std::vector<shard> all = co_await server.shards();
    for (const shard each : all) {
        try {
            co_await find_at(server, each, what);
            any = true;
        } catch (const boost::system::system_error& why) {
            what.complete = false;
            what.unreachable.push_back(net::story_of(why));
            trouble = std::current_exception();
        }
    }
    if (trouble && !any)
        std::rethrow_exception(trouble);
    co_return found_names{
        {what.names.begin(), what.names.end()}, what.complete, std::move(what.unreachable)};
}

} // namespace

asio::awaitable<found_names> find_locks(node& server, std::string pattern, std::size_t limit) {
    return find(server, {scripts::find_locks, std::move(pattern), limit, {}});
}

asio::awaitable<found_names> find_counters(node& server, counter_kind kind, std::string pattern,
                                           std::size_t limit) {
    return find(server, {scripts::find_counters, std::move(pattern), limit, word_of(kind)});
}

namespace {

/// Fields in the reply of the script that describes a key, in order.
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

/// Number of words that describe one holder, and number of words that describe one waiter. A holder
/// has a field, a value and a lease. A waiter has a name, a time and a number of listeners.
constexpr std::size_t words_each = 3;

constexpr std::string_view write_mark = ":write";

std::optional<std::int64_t> number_in(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failed != std::errc{} || end != text.data() + text.size() || value < 0)
        return std::nullopt;
    return value;
}

/// Returns whether a hash field is an owner: `<uuid>:<number>`, in a read-write lock perhaps with
/// `:write` at the end. Owners of holdfast and of all Redisson versions have this form.
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

/// Returns the remaining lease of a reader, which is the TTL of the reader's timer key. A holdfast
/// reader without a timer is dead, so its lease is 0. A Redisson reader without a timer may be
/// alive (lock_write.lua), so its lease is unknown.
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

/// Decides whether a hash is a lock, and adds its owners. In a lock, each field of the hash is an
/// owner. The value of the field is the number of times that the owner has acquired the lock.
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
    if (has_mode && !has_else && fields > 1)
        told.kind = key_kind::read_write_lock;
    else if (fields == 1 && told.owners.size() == 1 && !has_else)
        told.kind = key_kind::lock;
    else
        told.owners.clear();
    std::stable_partition(told.owners.begin(), told.owners.end(), std::mem_fn(&lock_owner::writes));
    if (told.kind == key_kind::lock) // the lease of the key is the owner's lease
        told.owners.front().remaining.reset();
}

/// Returns whether a string looks like the token of a lock: random letters and digits, or a
/// holdfast owner. The result is a guess, because other data may look the same.
bool looks_like_token(std::string_view value) {
    constexpr std::size_t least = 16, most = 64;
    constexpr std::string_view also = "+/=_:.-";
    const auto fits = [also](char letter) {
        return std::isalnum(static_cast<unsigned char>(letter)) != 0 ||
               also.find(letter) != also.npos;
    };
    return value.size() >= least && value.size() <= most && std::ranges::all_of(value, fits);
}

/// Decides whether a string is a lock, and adds its owner. In a lock, the string is the owner's
/// token.
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

/// Calls `act` for each owner and each waiter of a holdfast client. The second argument of `act` is
/// the key that describes the client.
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

/// Returns the keys that describe the holders and waiters of the locks, without duplicates.
std::vector<std::string> clients_of(const std::vector<lock_state>& locks) {
    std::set<std::string> keys;
    for_each_of_ours(locks, [&](const auto&, const std::string& key) { keys.insert(key); });
    return {keys.begin(), keys.end()};
}

/// Returns whether the list of locks is shown without the clients' reports after this error. This
/// is so in three cases: the ACL forbids the request, another program uses the key of the index, or
/// the server of the index cannot be reached.
bool may_be_without_reports(const boost::system::system_error& why) {
    return why.code() == store_errc::no_permission || why.code() == store_errc::other ||
           why.code() == store_errc::wrong_type || why.code() == errc::unreachable;
}

/// Reads the descriptions of clients. If the descriptions cannot be read, returns an empty entry
/// for each client. For example, the ACL may forbid the read, or one request cannot read several
/// keys (CROSSSLOT).
asio::awaitable<std::vector<std::optional<client_info>>>
read_what_may_be_read(node& server, std::vector<std::string> keys) {
    try {
        co_return co_await read_clients(server, keys);
    } catch (const boost::system::system_error& why) {
        if (!may_be_without_reports(why))
            throw;
    }
    co_return std::vector<std::optional<client_info>>(keys.size());
}

/// Descriptions of clients, by the keys of the clients.
using known_clients = std::map<std::string, std::optional<client_info>>;

/// Describes the holders and waiters of the locks. Reads the clients that are not in `known`.
/// Returns the number of requests.
asio::awaitable<std::size_t> add_clients(node& server, std::vector<lock_state>& locks,
                                         known_clients& known) {
    std::vector<std::string> unknown = clients_of(locks);
    std::erase_if(unknown, [&](const std::string& key) { return known.contains(key); });
    std::size_t requests = 0;
    if (!unknown.empty()) {
        requests = by_slot(server, unknown).size();
        std::vector<std::optional<client_info>> infos =
            co_await read_what_may_be_read(server, unknown);
        for (std::size_t i = 0; i < unknown.size(); ++i)
            known[unknown[i]] = std::move(infos[i]);
    }
    for_each_of_ours(locks, [&](auto& one, const std::string& key) { one.client = known[key]; });
    co_return requests;
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

/// Describes locks whose names are all in one slot of the cluster.
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

/// Describes locks as describe_locks() does, but without their clients.
asio::awaitable<std::vector<lock_state>> describe_keys(node& server,
                                                       std::vector<std::string> names) {
    std::vector<lock_state> found;
    std::vector<std::vector<std::string>> groups = by_slot(server, std::move(names));
    for (std::vector<std::string>& some : groups) {
        std::vector<lock_state> described = co_await describe_some(server, std::move(some));
        std::ranges::move(described, std::back_inserter(found));
    }
    std::ranges::stable_sort(found, {}, &lock_state::name);
    co_return found;
}

} // namespace

asio::awaitable<std::vector<lock_state>> describe_locks(node& server,
                                                        std::vector<std::string> names) {
    std::vector<lock_state> found = co_await describe_keys(server, std::move(names));
    known_clients none;
    co_await add_clients(server, found, none);
    co_return found;
}

namespace {

class release_watch final : public watch {
public:
    explicit release_watch(std::unique_ptr<hearing> subscriber)
        : subscriber_{std::move(subscriber)} {}

private:
    std::unique_ptr<hearing> subscriber_;
};

asio::awaitable<reply> fields_of(node& server, const lock_name& name) {
    const std::string timers = timer_prefix(name);
    const std::string_view keys[] = {name.text};
    const argument arguments[] = {timers};
    co_return co_await server.call(scripts::inspect_lock, keys, arguments);
}

/// Returns whether the reply of inspect_lock describes a token lock. Such a reply has the value of
/// the string in a nested list.
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
    if (has_mode(answer)) // Redisson counts subscribers
        return server.hear(shared_channel(name), wake, linger::none);
    return server.hear(lock_channel(name), wake);
}

/// Returns what a key is (for example, "a list"), from the error text of a script that expected a
/// lock at this key.
std::string what_is_told(std::string_view error) {
    constexpr std::string_view before = "the key is ", behind = ", and a lock was asked for";
    const std::size_t begin = error.find(before), end = error.find(behind);
    if (begin == error.npos || end == error.npos || end < begin)
        return "something that is not a lock";
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
    co_await remote::look_once(context_, nobody, server_.command_timeout(), std::move(send));
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

namespace {

/// Lock to which the holds and waits that clients report are added. The lock's owners and waiters
/// must not be changed elsewhere before list_reported() has been called.
class reported_lock {
public:
    explicit reported_lock(lock_state& lock)
        : lock_{lock} {
        for (lock_owner& each : lock.owners)
            owners_.emplace(without_write_mark(each.text), &each);
        for (lock_waiter& each : lock.waiters)
            if (const std::size_t colon = each.text.find(':'); colon != each.text.npos)
                places_.emplace(std::string_view{each.text}.substr(0, colon), &each);
    }

    void add(const seen_client& client, const seen_hold& hold) {
        if (owners_.empty())
            return;
        const std::string text = client.uuid + ":" + hold.number;
        const auto [begin, end] = owners_.equal_range(text);
        for (auto owner = begin; owner != end; ++owner) {
            owner->second->held_since = hold.since;
            owner->second->held_for = hold.age;
        }
    }

    /// Adds a wait. A report does not say which owner waits. So the client's oldest wait gets the
    /// client's first entry in the queue.
    void add(const seen_client& client, const seen_wait& wait) {
        const bool may_queue = wait.kind == "fair" || wait.kind == "write";
        const auto place = may_queue ? places_.find(client.uuid) : places_.end();
        if (place == places_.end())
            return (may_queue ? in_queue_ : only_reported_).push_back({&client, &wait});
        set_times(*place->second, wait);
        places_.erase(place);
    }

    /// Adds the reported waiters to the lock's list of waiters. If the server has not listed the
    /// whole queue, the oldest waits for a place in the queue belong to the rest of the queue.
    void list_reported() {
        const std::size_t listed = lock_.waiters.size();
        const std::size_t queued = std::max(lock_.waiting.value_or(0), listed);
        put_oldest_first(in_queue_, queued - listed);
        const std::size_t behind = std::min(in_queue_.size(), queued - listed);
        const auto rest = in_queue_.begin() + static_cast<std::ptrdiff_t>(behind);
        only_reported_.insert(only_reported_.end(), rest, in_queue_.end());
        in_queue_.erase(rest, in_queue_.end());
        lock_.reported_waiting = only_reported_.size();
        list(in_queue_, true);
        list(only_reported_, false);
    }

private:
    struct report {
        const seen_client* client;
        const seen_wait* wait;
    };

    static void put_oldest_first(std::vector<report>& all, std::size_t count) {
        const auto last = static_cast<std::ptrdiff_t>(std::min(count, all.size()));
        std::ranges::partial_sort(all, all.begin() + last, std::ranges::greater{},
                                  [](const report& each) { return each.wait->age; });
    }

    void list(std::vector<report>& reports, bool registered) {
        put_oldest_first(reports, reported_waiters_max);
        reports.resize(std::min(reports.size(), reported_waiters_max));
        for (const report& each : reports) {
            lock_waiter& added = lock_.waiters.emplace_back(lock_waiter{.text = each.client->uuid,
                                                                        .is_holdfast = true,
                                                                        .client = each.client->info,
                                                                        .registered = registered});
            set_times(added, *each.wait);
        }
    }

    static std::string_view without_write_mark(std::string_view owner) {
        if (owner.ends_with(write_mark))
            owner.remove_suffix(write_mark.size());
        return owner;
    }

    static void set_times(lock_waiter& waiter, const seen_wait& wait) {
        waiter.kind = wait.kind;
        waiter.waiting_since = wait.since;
        waiter.waiting_for = wait.age;
        waiter.timeout_left = wait.timeout_left;
    }

    lock_state& lock_;
    std::multimap<std::string_view, lock_owner*> owners_{};
    /// Waiters in the queue to which no report was added yet, by the uuid of their clients. The
    /// waiters of one client are in the order of the queue.
    std::multimap<std::string_view, lock_waiter*> places_{};
    std::vector<report> in_queue_{}; ///< waits in the queue, without an entry in `lock_.waiters`
    std::vector<report> only_reported_{};
};

} // namespace

void add_activity(std::span<lock_state> locks, const std::vector<seen_client>& clients) {
    std::unordered_map<std::string_view, reported_lock> by_name;
    for (lock_state& each : locks)
        if (each.kind != key_kind::other)
            by_name.try_emplace(each.name, each);
    for (const seen_client& client : clients) {
        for (const seen_hold& hold : client.holds)
            if (const auto found = by_name.find(hold.name); found != by_name.end())
                found->second.add(client, hold);
        for (const seen_wait& wait : client.waits)
            if (const auto found = by_name.find(wait.name); found != by_name.end())
                found->second.add(client, wait);
    }
    for (auto& [name, lock] : by_name)
        lock.list_reported();
}

asio::awaitable<void> lock_inspector::add_reports(std::span<lock_state> locks) {
    const bool any_lock = std::ranges::any_of(
        locks, [](const lock_state& each) { return each.kind != key_kind::other; });
    if (!any_lock)
        co_return;
    try {
        const std::string_view only = locks.size() == 1 ? locks.front().name : std::string_view{};
        const active_clients active = co_await read_active_clients(server_, only);
        add_activity(locks, active.clients);
    } catch (const boost::system::system_error& why) {
        if (!may_be_without_reports(why))
            throw;
    }
}

namespace {

/// Ages of the oldest wait and of the oldest hold that clients report for a name.
struct name_ages {
    duration waits{-1}, holds{-1};
};

/// Returns the reported names that belong to the query, in its order.
std::vector<std::string> names_for(const inspector::active_query& query,
                                   const std::vector<seen_client>& clients) {
    std::unordered_map<std::string_view, name_ages> found;
    const auto note = [&](const std::string& name, duration name_ages::*which,
                          const std::optional<duration>& age) {
        if (!name.starts_with(query.prefix) ||
            name.find(query.text, query.prefix.size()) == name.npos)
            return;
        duration& oldest = found[name].*which;
        oldest = std::max(oldest, age.value_or(duration{}));
    };
    for (const seen_client& client : clients) {
        for (const seen_hold& hold : client.holds)
            if (hold.kind != "permit") // a semaphore is not a lock
                note(hold.name, &name_ages::holds, hold.age);
        for (const seen_wait& wait : client.waits)
            note(wait.name, &name_ages::waits, wait.age);
    }
    std::vector<std::pair<std::string_view, name_ages>> sorted{found.begin(), found.end()};
    const auto rank = [&query](const std::pair<std::string_view, name_ages>& each) {
        const auto& [name, ages] = each;
        duration first{}, second{};
        if (query.by == active_order::wait)
            first = ages.waits, second = ages.holds;
        else if (query.by == active_order::held)
            first = ages.holds, second = ages.waits;
        return std::tuple{-first, -second, name};
    };
    std::ranges::sort(sorted, {}, rank);
    std::vector<std::string> names;
    names.reserve(sorted.size());
    for (const auto& each : sorted)
        names.emplace_back(each.first);
    return names;
}

/// Sorts the locks into the order of `names`.
void sort_like(std::vector<lock_state>& locks, const std::vector<std::string>& names) {
    std::map<std::string_view, std::size_t> position;
    for (std::size_t i = 0; i < names.size(); ++i)
        position.emplace(names[i], i);
    std::ranges::stable_sort(locks, {},
                             [&](const lock_state& each) { return position[each.name]; });
}

} // namespace

asio::awaitable<lock_list> lock_inspector::list_active(active_query which) {
    const active_clients active = co_await read_active_clients(server_);
    const std::vector<std::string> names = names_for(which, active.clients);
    lock_list all{.requests = active.requests};
    known_clients known;
    for (const seen_client& each : active.clients)
        if (const std::optional<std::string> key = client_key(each.uuid + ":"))
            known.emplace(*key, each.info);
    // Some names may have no lock any more, or belong to another kind of key.
    const std::size_t limit = which.limit;
    const std::size_t names_max = limit + std::max(limit, described_at_once_max);
    constexpr std::size_t described_least = 10;
    std::span<const std::string> rest{names};
    while (!rest.empty() && all.locks.size() < limit && names.size() - rest.size() < names_max) {
        const std::size_t wanted = std::max(limit - all.locks.size(), described_least);
        const auto some = rest.first(std::min({rest.size(), wanted, described_at_once_max}));
        std::vector<std::string> batch{some.begin(), some.end()};
        rest = rest.subspan(some.size());
        all.requests += by_slot(server_, batch).size();
        std::vector<lock_state> described = co_await describe_keys(server_, std::move(batch));
        all.requests += co_await add_clients(server_, described, known);
        for (lock_state& each : described)
            if (each.kind != key_kind::other)
                all.locks.push_back(std::move(each));
    }
    sort_like(all.locks, names);
    all.complete = active.complete && rest.empty() && all.locks.size() <= limit;
    all.locks.resize(std::min(all.locks.size(), limit));
    add_activity(all.locks, active.clients);
    co_return all;
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
            // Leave out two kinds of names: the lock was released after the search had found its
            // name, or the name belongs to another kind of key now.
            if (each.is_held && each.kind != key_kind::other)
                all.locks.push_back(std::move(each));
    }
    co_await add_reports(all.locks);
    co_return all;
}

/// Subscribes to the releases of a lock. The release of a fair lock is not noticed, because it
/// notifies only the next waiter in the queue.
asio::awaitable<std::unique_ptr<watch>> lock_inspector::listen(lock_name name, alarm& wake) {
    const reply answer = co_await fields_of(server_, name);
    const auto hear = [&](const reply& said) { return releases_of(server_, said, name, wake); };
    std::unique_ptr<hearing> subscriber = checked(server_, answer, hear);
    const time_point give_up_at = context_.time.now() + confirmation_timeout;
    const bool is_heard = co_await subscriber->confirmed(give_up_at);
    if (!is_heard)
        co_return nullptr;
    co_return std::make_unique<release_watch>(std::move(subscriber));
}

} // namespace holdfast::redis
