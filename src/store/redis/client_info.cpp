// SPDX-License-Identifier: Apache-2.0
#include "store/redis/client_info.hpp"

#include "net/failure.hpp"
#include "runtime/background.hpp"
#include "store/redis/names.hpp"
#include "store/redis/replies.hpp"
#include "store/redis/scripts.hpp"
#include "store/remote/diagnostics.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace holdfast::redis {
namespace {

constexpr std::string_view key_prefix = "holdfast_client:";

constexpr std::size_t uuid_size = 36;

/// Position and text of the mark in the UUID of a holdfast client. The mark is the third group of
/// digits; its first digit 8 is the UUID version.
constexpr std::size_t mark_at = 14;
constexpr std::string_view mark = "8fd5";

std::optional<client_info> client_info_in(const reply& said) {
    const std::vector<reply>& words = items(said);
    if (words.empty())
        return std::nullopt;
    if (words.size() != 5)
        throw_unexpected_answer();
    return client_info{text(words[0]), integer(words[1]), text(words[2]), text(words[3]),
                       std::chrono::seconds{integer(words[4])}};
}

void check_announced(const reply& said) {
    if (said.type != reply::kind::status && said.type != reply::kind::integer)
        throw_unexpected_answer();
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

asio::awaitable<void> announce_client(node& server, std::string key, client_info info,
                                      duration kept) {
    const std::string_view keys[] = {key};
    const argument arguments[] = {kept.count(), info.host,  info.pid,
                                  info.program, info.label, info.since.count()};
    const reply answer = co_await server.call(scripts::announce_client, keys, arguments);
    checked(server, answer, check_announced);
}

namespace {

/// Reads the descriptions of clients. All their keys must be in one slot.
asio::awaitable<std::vector<std::optional<client_info>>>
read_some(node& server, const std::vector<std::string>& clients) {
    const std::vector<std::string_view> keys{clients.begin(), clients.end()};
    const reply answer = co_await server.call(scripts::read_clients, keys, {});
    const auto read = [&clients](const reply& said) {
        std::vector<std::optional<client_info>> infos;
        for (const reply& each : items(said, clients.size()))
            infos.push_back(client_info_in(each));
        return infos;
    };
    co_return checked(server, answer, read);
}

} // namespace

asio::awaitable<std::vector<std::optional<client_info>>>
read_clients(node& server, std::vector<std::string> clients) {
    std::map<std::string, std::optional<client_info>> known;
    const std::vector<std::vector<std::string>> groups = by_slot(server, clients);
    for (const std::vector<std::string>& some : groups) {
        std::vector<std::optional<client_info>> infos;
        try {
            infos = co_await read_some(server, some);
        } catch (const boost::system::system_error& why) {
            if (groups.size() == 1 || why.code() != errc::unreachable)
                throw; // one unreachable server of several is not a failure
        }
        for (std::size_t i = 0; i < infos.size(); ++i)
            known[some[i]] = std::move(infos[i]);
    }
    std::vector<std::optional<client_info>> all;
    all.reserve(clients.size());
    for (const std::string& each : clients)
        all.push_back(known[each]);
    co_return all;
}

namespace {

/// Least TTL of the key that describes a client. The key must outlive all holds of the client, so
/// that users can see the holder of a lock even after it has died. The client writes the key again
/// every third of its TTL, just as it renews holds every third of their lease.
constexpr duration kept_min = std::chrono::minutes{1};
constexpr int writes_while_kept = 3;

/// Longest time for which close() waits until the server has deleted the client's key. If the
/// server does not reply in time, the key expires later.
constexpr duration farewell_timeout{500};

} // namespace

presence_refresh::presence_refresh(node& server, store_context context)
    : server_{&server}
    , context_{std::move(context)}
    , key_{client_key(context_.client)}
    , info_{remote::client_info_of(context_)} {}

void presence_refresh::refresh(duration lease, time_point now) {
    const duration::rep kept = std::max({lease.count(), kept_min.count(), kept_.load()});
    const duration::rep moment = now.time_since_epoch().count();
    if (kept == kept_ && moment < due_at_)
        return;
    kept_ = kept;
    due_at_ = moment + kept / writes_while_kept;
    start_writing(duration{kept});
}

void presence_refresh::start_writing(duration kept) {
    runtime::run_in_background(context_, write(shared_from_this(), kept));
}

asio::awaitable<void> presence_refresh::write(std::shared_ptr<presence_refresh> self,
                                              duration kept) {
    try {
        if (self->server_)
            co_await announce_client(*self->server_, self->key_, self->info_, kept);
    } catch (const boost::system::system_error& why) {
        self->note(why);
    }
    if (kept == duration::zero() && self->ended_)
        self->ended_->ring();
}

// Reports to the user's observer, only once, that the user has no permission to write the client's
// key. After any other error, the next call of refresh() tries again.
void presence_refresh::note(const boost::system::system_error& why) {
    if (why.code() != store_errc::no_permission || !server_ || std::exchange(denied_, true))
        return;
    constexpr std::string_view text =
        "this client may not write who it is: whoever asks who holds its locks learns a number (to "
        "be granted: +set +del ~holdfast_client:*; or options::announce = false)";
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
    const std::unique_ptr<alarm> ended = context_.time.make_alarm();
    ended_ = ended.get();
    kept_ = due_at_ =
        std::numeric_limits<duration::rep>::max(); // no later call of refresh() writes
    start_writing(duration::zero()); // this write comes last, because all writes use one connection
    co_await ended->wait_until(context_.time.now() + farewell_timeout);
    ended_ = nullptr;
}

} // namespace holdfast::redis
