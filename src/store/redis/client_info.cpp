// SPDX-License-Identifier: Apache-2.0
#include "store/redis/client_info.hpp"

#include "net/failure.hpp"
#include "redis/client/error_replies.hpp"
#include "runtime/background.hpp"
#include "store/redis/names.hpp"
#include "store/redis/replies.hpp"
#include "store/redis/scripts.hpp"
#include "store/remote/diagnostics.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <span>
#include <utility>

namespace holdfast::redis {
namespace {

constexpr std::string_view key_prefix = "holdfast_client:";

constexpr std::size_t uuid_size = 36;

/// Position and text of the mark in the UUID of a holdfast client. The mark is the third group of
/// digits, which begins with 8, the UUID version.
constexpr std::size_t mark_at = 14;
constexpr std::string_view mark = "8fd5";

/// Key of the index, a sorted set that lists the clients with holds or waits.
constexpr std::string_view index_key = "holdfast_clients";

/// Maximum number of clients whose reports are read, and maximum number of clients in one request.
/// The script read_clients returns fewer clients if they list much.
constexpr std::size_t clients_max = 1000, clients_at_once = 250;

/// Limits of a client's key: maximum number of holds in its list, maximum number of waits, and
/// maximum size of a lock name. These limits keep the key small. The script read_clients has the
/// same limits.
constexpr std::size_t entries_max = 100, name_size_max = 512;

/// Maximum size of all names in the list of holds, and of all names in the list of waits.
constexpr std::size_t names_size_max = 10'000;

/// Age from which the key lists a hold or a wait, and the time between two checks for changes.
constexpr duration listed_age = std::chrono::seconds{1}, look_period = std::chrono::seconds{1};

/// Time after which a client with waits writes its key again, and time after a write for which
/// readers show the waits. So the waits of a dead client, or waits that the server has lost, are
/// shown wrongly only for a short time.
constexpr duration waits_period = std::chrono::seconds{10}, waits_valid = 3 * waits_period;

std::string_view word_for(lock_kind kind) {
    switch (kind) {
    case lock_kind::plain:
        return "plain";
    case lock_kind::spin:
        return "spin";
    case lock_kind::fenced:
        return "fenced";
    case lock_kind::fair:
        return "fair";
    case lock_kind::read:
        return "read";
    case lock_kind::write:
        return "write";
    case lock_kind::token:
        return "token";
    case lock_kind::permit:
        return "permit";
    }
    return "plain"; // no other kind exists
}

std::optional<duration> entry_time(const reply& word) {
    const std::int64_t number = integer(word);
    return number >= 0 ? std::optional{duration{number}} : std::nullopt;
}

/// Number of words that describe one hold or wait in the reply of read_clients.
constexpr std::size_t words_per_entry = 5;

const std::vector<reply>& entries_in(const reply& list) {
    const std::vector<reply>& words = items(list);
    if (words.size() % words_per_entry != 0)
        throw_unexpected_answer();
    return words;
}

std::optional<seen_client> client_in(const reply& said) {
    const std::vector<reply>& words = items(said);
    if (words.empty())
        return std::nullopt;
    if (words.size() != 8)
        throw_unexpected_answer();
    seen_client seen;
    seen.info = {text(words[0]), integer(words[1]), text(words[2]), text(words[3]),
                 std::chrono::seconds{integer(words[4])}};
    const std::vector<reply>& holds = entries_in(words[5]);
    for (std::size_t i = 0; i < holds.size(); i += words_per_entry)
        seen.holds.push_back({text(holds[i]), text(holds[i + 1]), text(holds[i + 2]),
                              entry_time(holds[i + 3]), entry_time(holds[i + 4])});
    const std::vector<reply>& waits = entries_in(words[6]);
    for (std::size_t i = 0; i < waits.size(); i += words_per_entry)
        seen.waits.push_back({text(waits[i]), text(waits[i + 1]), entry_time(waits[i + 2]),
                              entry_time(waits[i + 3]), entry_time(waits[i + 4])});
    seen.complete = integer(words[7]) == 1;
    return seen;
}

/// Returns the error text if the reply to a write says that the index could not be written.
std::string index_refusal_in(const reply& said) {
    if (said.type == reply::kind::status || said.type == reply::kind::integer)
        return {};
    return text(said);
}

} // namespace

std::optional<std::string> client_key(std::string_view owner) {
    if (owner.size() <= uuid_size || owner[uuid_size] != ':' ||
        owner.substr(mark_at, mark.size()) != mark)
        return std::nullopt;
    return std::string{key_prefix}.append(owner.substr(0, uuid_size));
}

std::string client_key(const std::array<std::uint8_t, 16>& client) {
    return std::string{key_prefix}.append(to_string(owner_id{client, 0}), 0, uuid_size);
}

namespace {

bool lists_any(const client_activity& activity) {
    return !activity.holds.empty() || !activity.waits.empty();
}

/// Appends the holds and waits to the arguments of announce_client.
void add_entries(std::vector<argument>& to, const client_report& from) {
    const auto age = [&](time_point since) {
        return std::max(from.now - since, duration{}).count();
    };
    for (const reported_hold& each : from.activity.holds)
        to.insert(to.end(), {std::string_view{each.name}, word_for(each.kind),
                             static_cast<std::int64_t>(each.number), age(each.since),
                             std::int64_t{each.renewed}});
    for (const reported_wait& each : from.activity.waits) {
        const bool has_timeout = each.give_up_at != time_point::max();
        to.insert(to.end(), {std::string_view{each.name}, word_for(each.kind), age(each.since),
                             has_timeout ? std::max(each.give_up_at - from.now, duration{}).count()
                                         : std::int64_t{-1}});
    }
}

/// Writes this client's name into the index, the list of all clients that have holds or waits. Used
/// in a cluster, where the index needs a request of its own. Returns the error text if the user has
/// no right to do so. Ignores other errors, because the next write repeats the attempt.
asio::awaitable<std::string> write_index(node& server, const client_report& report, duration kept) {
    const std::string_view keys[] = {index_key};
    const std::int64_t ms = lists_any(report.activity) ? kept.count() : 0;
    const argument arguments[] = {std::string_view{report.name_in_index}, ms};
    try {
        const reply answer = co_await server.call(scripts::index_client, keys, arguments);
        co_return checked(server, answer, index_refusal_in);
    } catch (const boost::system::system_error& why) {
        if (why.code() == store_errc::no_permission)
            co_return "NOPERM " + net::story_of(why); // the word that a server begins with
    }
    co_return std::string{};
}

} // namespace

asio::awaitable<std::string> announce_client(node& server, std::string key, client_report report,
                                             duration kept) {
    const bool writes_index = !report.name_in_index.empty();
    // In a cluster, the index and the client's key are in different slots.
    const bool in_one = writes_index && !server.is_sharded();
    const std::string_view keys[] = {key};
    std::vector<argument> arguments{kept.count(),
                                    report.info.host,
                                    report.info.pid,
                                    report.info.program,
                                    report.info.label,
                                    report.info.since.count(),
                                    in_one ? index_key : std::string_view{},
                                    report.name_in_index,
                                    static_cast<std::int64_t>(report.activity.holds_total),
                                    static_cast<std::int64_t>(report.activity.waits_total),
                                    waits_valid.count(),
                                    static_cast<std::int64_t>(report.activity.holds.size())};
    add_entries(arguments, report);
    const reply answer = co_await server.call(scripts::announce_client, keys, arguments);
    std::string refusal = checked(server, answer, index_refusal_in);
    if (writes_index && !in_one)
        refusal = co_await write_index(server, report, kept);
    co_return refusal;
}

namespace {

/// Content of the reply of read_clients: descriptions without holds and waits, or with
/// those of one lock, or with all if the name is empty.
struct wanted_entries {
    bool any = false;
    std::string_view name{};
};

/// Reads the reports of clients whose keys are all in one slot. Adds the number of requests to
/// `requests`.
asio::awaitable<std::vector<std::optional<seen_client>>>
read_some(node& server, const std::vector<std::string>& clients, wanted_entries wanted,
          std::size_t& requests) {
    std::vector<std::optional<seen_client>> seen;
    const argument arguments[] = {std::int64_t{wanted.any}, wanted.name};
    for (std::span<const std::string> rest{clients}; !rest.empty();) {
        const auto some = rest.first(std::min(rest.size(), clients_at_once));
        const std::vector<std::string_view> keys{some.begin(), some.end()};
        ++requests;
        const reply answer = co_await server.call(scripts::read_clients, keys, arguments);
        const auto read = [&](const reply& said) {
            const std::vector<reply>& told = items(said);
            if (told.empty() || told.size() > some.size())
                throw_unexpected_answer();
            for (const reply& each : told)
                seen.push_back(client_in(each));
            return told.size();
        };
        rest = rest.subspan(checked(server, answer, read));
    }
    co_return seen;
}

} // namespace

asio::awaitable<std::vector<std::optional<client_info>>>
read_clients(node& server, std::vector<std::string> clients) {
    std::map<std::string, std::optional<client_info>> known;
    const std::vector<std::vector<std::string>> groups = by_slot(server, clients);
    std::size_t requests = 0;
    for (const std::vector<std::string>& some : groups) {
        std::vector<std::optional<seen_client>> seen(some.size());
        try {
            seen = co_await read_some(server, some, {}, requests);
        } catch (const boost::system::system_error& why) {
            if (groups.size() == 1 || why.code() != errc::unreachable)
                throw; // else show the clients of the other servers
        }
        for (std::size_t i = 0; i < seen.size(); ++i)
            if (seen[i])
                known[some[i]] = std::move(seen[i]->info);
    }
    std::vector<std::optional<client_info>> all;
    all.reserve(clients.size());
    for (const std::string& each : clients)
        all.push_back(known[each]);
    co_return all;
}

namespace {

/// Returns the keys of the clients in the index.
asio::awaitable<std::vector<std::string>> keys_in_index(node& server) {
    const std::string_view keys[] = {index_key};
    const argument arguments[] = {static_cast<std::int64_t>(clients_max)};
    const auto read = [](const reply& said) {
        std::vector<std::string> found;
        for (const reply& each : items(said)) // skip names that another program wrote
            if (text(each).size() == uuid_size && text(each).substr(mark_at, mark.size()) == mark)
                found.push_back(std::string{key_prefix} + text(each));
        return found;
    };
    try {
        const reply answer = co_await server.call(scripts::list_clients, keys, arguments);
        co_return checked(server, answer, read);
    } catch (const boost::system::system_error& why) {
        if (why.code() != store_errc::wrong_type)
            throw;
    }
    // The text of `wrong_type` is about the name of a lock.
    throw boost::system::system_error{
        make_error_code(store_errc::other),
        "the key holdfast_clients has a value of another program, but should name the clients that "
        "list their holds and waits; delete it"};
}

} // namespace

asio::awaitable<active_clients> read_active_clients(node& server, std::string_view name) {
    active_clients found{.requests = 1};
    std::vector<std::string> keys = co_await keys_in_index(server);
    found.complete = keys.size() < clients_max;
    for (const std::vector<std::string>& some : by_slot(server, std::move(keys))) {
        std::vector<std::optional<seen_client>> seen;
        try {
            seen = co_await read_some(server, some, {true, name}, found.requests);
        } catch (const boost::system::system_error& why) {
            if (!server.is_sharded() || why.code() != errc::unreachable)
                throw; // else show the clients of the other servers
            found.complete = false;
        }
        for (std::size_t i = 0; i < seen.size(); ++i) {
            if (!seen[i])
                continue; // the key has expired, or has nothing about the lock
            found.complete = found.complete && seen[i]->complete;
            seen[i]->uuid = some[i].substr(key_prefix.size());
            found.clients.push_back(std::move(*seen[i]));
        }
    }
    co_return found;
}

namespace {

/// Least TTL of the key that describes a client. The key must outlive all holds of the client, so
/// that users can see who held a lock even after that client has died. The client writes the key
/// again after a third of the TTL.
constexpr duration kept_min = std::chrono::minutes{1};
constexpr int writes_while_kept = 3;

/// After this number of failed writes, the client stops writing its key. The key then expires.
constexpr int failures_max = 10;

/// Time after which a reply to a write is late. The write contains the ages of the holds and waits,
/// and the server subtracts them from its time. So a delay of the request makes the entries
/// younger.
constexpr duration late_after{300};

/// Longest time for which end() waits until the server has deleted the client's key. If the server
/// does not reply in time, the key expires later.
constexpr duration farewell_timeout{500};

/// Alarm of a coroutine, and a pointer to it for other functions. The pointer is null when the
/// coroutine has ended, also when the executor has destroyed the coroutine.
class shared_alarm {
public:
    shared_alarm(clock& time, alarm*& pointer)
        : alarm_{time.make_alarm()}
        , pointer_{pointer} {
        pointer_ = alarm_.get();
    }
    shared_alarm(const shared_alarm&) = delete;
    ~shared_alarm() { pointer_ = nullptr; }

    alarm* operator->() const { return alarm_.get(); }

private:
    const std::unique_ptr<alarm> alarm_;
    alarm*& pointer_;
};

} // namespace

presence_refresh::presence_refresh(node& server, store_context context)
    : server_{&server}
    , context_{std::move(context)}
    , key_{client_key(context_.client)}
    , info_{remote::client_info_of(context_)} {}

namespace {

bool is_same(const client_activity& a, const client_activity& b) {
    const auto is_same_hold = [](const reported_hold& one, const reported_hold& other) {
        return one.number == other.number && one.since == other.since &&
               one.renewed == other.renewed;
    };
    const auto is_same_wait = [](const reported_wait& one, const reported_wait& other) {
        return one.since == other.since && one.kind == other.kind && one.name == other.name;
    };
    return a.holds_total == b.holds_total && a.waits_total == b.waits_total &&
           std::ranges::equal(a.holds, b.holds, is_same_hold) &&
           std::ranges::equal(a.waits, b.waits, is_same_wait);
}

} // namespace

void presence_refresh::follow() {
    if (!context_.activity || denied_ || following_)
        return;
    if (!following_.exchange(true))
        runtime::run_in_background(context_, follow_changes(shared_from_this()));
}

asio::awaitable<void> presence_refresh::follow_changes(std::shared_ptr<presence_refresh> self) {
    if (self->server_) {
        const shared_alarm next_look{self->context_.time, self->next_look_};
        do
            co_await next_look->wait_until(self->context_.time.now() + look_period);
        while (self->server_ && self->write_changes());
    }
    self->following_ = false;
}

namespace {

/// Removes the last entries if the names in the list are too long in total.
template <typename Entry>
void keep_short(std::vector<Entry>& entries) {
    std::size_t size = 0;
    const auto is_behind = [&size](const Entry& each) {
        size += each.name.size();
        return size > names_size_max;
    };
    entries.erase(std::find_if(entries.begin(), entries.end(), is_behind), entries.end());
}

} // namespace

/// Returns the holds and waits that the client's key lists: those that are old enough and have no
/// long name. Long names would make the key too large.
client_activity presence_refresh::listed(time_point now) const {
    client_activity found = context_.activity(now - listed_age, {entries_max, name_size_max});
    keep_short(found.holds);
    keep_short(found.waits);
    return found;
}

/// Writes the client's key if the list of holds and waits has changed, the last write failed, or
/// the key will expire soon. Returns whether the loop that calls this function must continue.
bool presence_refresh::write_changes() {
    if (denied_ || ending_)
        return false;
    const time_point now = context_.time.now();
    const client_activity current = listed(now);
    const bool is_due = (lists_any(current) && now.time_since_epoch().count() >= due_at_) ||
                        (!current.waits.empty() && now >= waits_due_at_);
    const bool failed = failures_ > 0 && failures_ < failures_max;
    const bool was_late = std::exchange(was_late_, false);
    if (is_due || failed || was_late || !is_same(current, written_)) {
        kept_ = std::max(kept_min.count(), kept_.load());
        due_at_ = now.time_since_epoch().count() + kept_ / writes_while_kept;
        start_writing(duration{kept_}, was_late ? attempt_number::repeated : attempt_number::first);
    }
    return !current.idle || lists_any(current);
}

/// Returns the content of the next write, and stores its holds and waits in `written_`.
client_report presence_refresh::make_report(duration kept) {
    client_report made{.info = info_, .now = context_.time.now()};
    if (kept > duration::zero() && context_.activity)
        made.activity = listed(made.now);
    written_ = made.activity;
    waits_due_at_ = made.now + waits_period;
    const bool lists = lists_any(made.activity);
    if (!index_denied_ && (is_indexed_ || lists))
        made.name_in_index = key_.substr(key_prefix.size());
    return made;
}

void presence_refresh::stop() noexcept {
    server_ = nullptr;
    if (next_look_)
        next_look_->ring();
}

void presence_refresh::refresh(duration lease, time_point now) {
    follow();
    const duration::rep kept = std::max({lease.count(), kept_min.count(), kept_.load()});
    const duration::rep moment = now.time_since_epoch().count();
    if (kept == kept_ && moment < due_at_)
        return;
    kept_ = kept;
    due_at_ = moment + kept / writes_while_kept;
    start_writing(duration{kept});
}

void presence_refresh::start_writing(duration kept, attempt_number which) {
    runtime::run_in_background(context_, write(shared_from_this(), kept, which));
}

asio::awaitable<void> presence_refresh::write(std::shared_ptr<presence_refresh> self, duration kept,
                                              attempt_number which) {
    try {
        if (self->server_) {
            client_report report = self->make_report(kept);
            const bool lists = lists_any(report.activity);
            self->is_indexed_ |= lists;
            const time_point began = report.now;
            const std::string refusal =
                co_await announce_client(*self->server_, self->key_, std::move(report), kept);
            self->note_index(refusal);
            self->is_indexed_ = lists;
            self->was_late_ = lists && which == attempt_number::first &&
                              self->context_.time.now() - began > late_after;
            self->failures_ = 0;
        }
    } catch (const boost::system::system_error& why) {
        ++self->failures_;
        self->note(why);
        if (self->server_ && self->failures_ < failures_max)
            self->follow(); // the loop writes the list again
    }
    if (kept == duration::zero() && self->ended_)
        self->ended_->ring();
}

// If the user has no permission to write the client's key, reports this once to the user's
// observer. After another error, does nothing, because the client writes the key again later.
void presence_refresh::note(const boost::system::system_error& why) {
    if (why.code() != store_errc::no_permission || !server_ || denied_.exchange(true))
        return;
    tell_impaired("this client has no right to store its description, so other programs see only a "
                  "number as the holder of its locks (to be granted: +set +del ~holdfast_client:*; "
                  "or options::announce = false)");
}

/// Reports once to the user's observer if the user has no permission to write the index.
void presence_refresh::note_index(std::string_view refusal) {
    if (classify(refusal) != store_errc::no_permission || !server_ ||
        std::exchange(index_denied_, true))
        return;
    tell_impaired(
        "this client has no right to write its name into the list of clients that hold or wait "
        "for locks, so holdfast top does not show its holds and waits (to be granted: "
        "+time +zadd +zrem +zremrangebyscore +pttl +pexpire ~holdfast_clients; or "
        "options::announce = false)");
}

void presence_refresh::tell_impaired(std::string_view text) {
    if (context_.tell)
        context_.tell({.kind = event_kind::impaired,
                       .cause = event_cause::failed,
                       .name = key_.data(),
                       .name_size = key_.size(),
                       .code = static_cast<std::int32_t>(errc::refused),
                       .text = text.data(),
                       .text_size = text.size()});
}

asio::awaitable<void> presence_refresh::end() {
    if (kept_ == 0 || denied_)
        co_return;
    ending_ = true;
    const shared_alarm ended{context_.time, ended_};
    kept_ = due_at_ =
        std::numeric_limits<duration::rep>::max(); // no later call of refresh() writes
    start_writing(duration::zero()); // this write comes last, because all writes use one connection
    co_await ended->wait_until(context_.time.now() + farewell_timeout);
}

} // namespace holdfast::redis
