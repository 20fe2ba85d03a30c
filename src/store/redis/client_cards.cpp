// SPDX-License-Identifier: Apache-2.0
#include "store/redis/client_cards.hpp"

#include "store/redis/by_slot.hpp"
#include "store/redis/replies.hpp"
#include "store/redis/scripts.hpp"

#include <map>
#include <utility>

namespace holdfast::redis {
namespace {

constexpr std::string_view key_prefix = "holdfast_client:";

constexpr std::size_t uuid_size = 36;

/// Position and text of the mark in the UUIDs of holdfast clients. The mark is the third group of
/// digits, which begins with 8, the UUID version.
constexpr std::size_t mark_at = 14;
constexpr std::string_view mark = "8fd5";

std::optional<client_card> card_in(const reply& said) {
    const std::vector<reply>& words = items(said);
    if (words.empty())
        return std::nullopt;
    if (words.size() != 5)
        throw_unexpected_answer();
    return client_card{text(words[0]), integer(words[1]), text(words[2]), text(words[3]),
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

asio::awaitable<void> announce_client(node& server, std::string key, client_card card,
                                      duration kept) {
    const std::string_view keys[] = {key};
    const argument arguments[] = {kept.count(), card.host,  card.pid,
                                  card.program, card.label, card.since.count()};
    const reply answer = co_await server.call(scripts::announce_client, keys, arguments);
    checked(server, answer, check_announced);
}

namespace {

/// Reads the descriptions of clients whose keys are all in one slot.
asio::awaitable<std::vector<std::optional<client_card>>>
read_some(node& server, const std::vector<std::string>& clients) {
    const std::vector<std::string_view> keys{clients.begin(), clients.end()};
    const reply answer = co_await server.call(scripts::read_clients, keys, {});
    const auto read = [&clients](const reply& said) {
        std::vector<std::optional<client_card>> cards;
        for (const reply& each : items(said, clients.size()))
            cards.push_back(card_in(each));
        return cards;
    };
    co_return checked(server, answer, read);
}

} // namespace

asio::awaitable<std::vector<std::optional<client_card>>>
read_clients(node& server, std::vector<std::string> clients) {
    std::map<std::string, std::optional<client_card>> known;
    const std::vector<std::vector<std::string>> groups = by_slot(server, clients);
    for (const std::vector<std::string>& some : groups) {
        std::vector<std::optional<client_card>> cards;
        try {
            cards = co_await read_some(server, some);
        } catch (const boost::system::system_error& why) {
            if (groups.size() == 1 || why.code() != errc::unreachable)
                throw; // else the clients of this server stay unknown
        }
        for (std::size_t i = 0; i < cards.size(); ++i)
            known[some[i]] = std::move(cards[i]);
    }
    std::vector<std::optional<client_card>> all;
    all.reserve(clients.size());
    for (const std::string& each : clients)
        all.push_back(known[each]);
    co_return all;
}

} // namespace holdfast::redis
