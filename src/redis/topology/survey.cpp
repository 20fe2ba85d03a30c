// SPDX-License-Identifier: Apache-2.0
#include "redis/topology/survey.hpp"

#include "net/deadlines.hpp"
#include "net/endpoint.hpp"
#include "net/failure.hpp"
#include "redis/topology/sentinel.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::redis {
namespace {

using std::chrono::microseconds;

/// Questions to a server, in the order of sending. The command TIME is both the first and the last
/// question. If the two times show a jump, the clock was changed, or a proxy sends the requests to
/// different servers.
enum question : std::size_t {
    first_time,
    of_itself,
    of_files,
    of_replicas,
    of_cluster, // the questions from here on are for cluster nodes
    of_slots,
    of_nodes,
    of_listeners,
    of_shard_listeners,
};
constexpr std::size_t for_servers = of_cluster, for_nodes = of_shard_listeners + 1;

/// Reads the time on the server's clock from a reply to TIME.
std::optional<microseconds> date_in(const reply& said) {
    if (said.type != reply::kind::array || said.items.size() != 2)
        return std::nullopt;
    const auto seconds = number_in<std::uint32_t>(said.items[0].text);
    const auto rest = number_in<std::uint32_t>(said.items[1].text);
    if (!seconds || !rest)
        return std::nullopt;
    return std::chrono::seconds{*seconds} + microseconds{*rest};
}

/// Greatest error of this client's clock: the clock counts whole milliseconds.
constexpr duration tick{1};

clock_reading reading_of(microseconds date, const reply& said) {
    return {date - (said.received_at + tick).time_since_epoch(),
            date - said.sent_at.time_since_epoch()};
}

/// Returns whether the server's clock jumped between the two replies to TIME. The clock jumped if
/// it went back, or if it advanced more than this client's clock.
bool is_jump(microseconds first, microseconds last, const reply& said) {
    const microseconds passed = last - first;
    return passed < microseconds::zero() || passed > said.received_at + tick - said.sent_at;
}

void read_clock(const reply& first, const reply& last, server_report& told) {
    const std::optional<microseconds> before = date_in(first), after = date_in(last);
    if (!before || !after)
        return;
    told.clock = reading_of(*before, first);
    told.clock_jumps = is_jump(*before, *after, last);
}

/// Returns the value that follows a name in a list of names and values.
std::string_view setting_in(const reply& said, std::string_view name) {
    if (said.type != reply::kind::array)
        return {};
    for (std::size_t i = 0; i + 1 < said.items.size(); i += 2)
        if (said.items[i].text == name)
            return said.items[i + 1].text;
    return {};
}

std::optional<bool> any_in(const reply& channels) {
    if (channels.type != reply::kind::array)
        return std::nullopt;
    return !channels.items.empty();
}

void read_node(const std::vector<reply>& said, const server_address& asked, const slot_map& map,
               server_report& told) {
    if (const auto length =
            number_in<std::int64_t>(setting_in(said[of_cluster], "cluster-node-timeout")))
        told.node_timeout = duration{*length};
    const std::string_view migrate =
        setting_in(said[of_cluster], "cluster-allow-replica-migration");
    if (!migrate.empty())
        told.replicas_migrate = migrate == "yes";
    if (said[of_nodes].type == reply::kind::text)
        told.open = open_in(said[of_nodes].text);
    try {
        told.other_view = disagreement_in(said[of_slots], asked, map);
    } catch (const net::failure&) { // the code that makes the slot map reports this error
    }
    told.plain_listeners = any_in(said[of_listeners]);
    told.shard_listeners = any_in(said[of_shard_listeners]);
}

} // namespace

std::string questions_for(questioned whom) {
    std::string out;
    composer to{out};
    to.request({"TIME"});
    to.request({"INFO"});
    to.request({"CONFIG", "GET", "append*"});
    to.request({"WAIT", "0", "0"});
    if (whom == questioned::node_of_cluster) {
        to.request({"CONFIG", "GET", "cluster-*"});
        to.request({"CLUSTER", "SLOTS"});
        to.request({"CLUSTER", "NODES"});
        to.request({"PUBSUB", "CHANNELS", "redisson_lock__channel*"});
        to.request({"PUBSUB", "SHARDCHANNELS", "redisson_lock__channel*"});
    }
    to.request({"TIME"});
    return out;
}

std::size_t count_of_questions(questioned whom) {
    return (whom == questioned::node_of_cluster ? for_nodes : for_servers) + 1;
}

server_report read_answers(questioned whom, const std::vector<reply>& said,
                           const server_address& asked, const slot_map* map) {
    server_report told{.address = net::address_of(asked)};
    if (said.size() != count_of_questions(whom))
        return told;
    read_clock(said[first_time], said.back(), told);
    if (said[of_itself].type == reply::kind::text)
        told.info = said[of_itself].text;
    told.fsync = setting_in(said[of_files], "appendfsync");
    told.closed_to_files = said[of_files].type == reply::kind::error;
    if (said[of_replicas].type == reply::kind::error)
        told.wait_refusal = said[of_replicas].text;
    if (map)
        read_node(said, asked, *map, told);
    return told;
}

namespace {

/// Splits a line at its spaces.
std::vector<std::string_view> words_of(std::string_view line) {
    std::vector<std::string_view> all;
    while (!line.empty()) {
        const std::string_view word = line.substr(0, line.find(' '));
        if (!word.empty())
            all.push_back(word);
        line.remove_prefix(std::min(word.size() + 1, line.size()));
    }
    return all;
}

} // namespace

open_slots open_in(std::string_view nodes) {
    open_slots found;
    while (!nodes.empty()) {
        const std::string_view line = nodes.substr(0, nodes.find('\n'));
        nodes.remove_prefix(std::min(line.size() + 1, nodes.size()));
        if (line.find("myself") == line.npos)
            continue;
        for (const std::string_view word : words_of(line)) {
            if (!word.starts_with('['))
                continue;
            const auto slot = number_in<std::uint16_t>(word.substr(1, word.find('-') - 1));
            if (slot && found.count++ == 0)
                found.first = *slot;
        }
    }
    return found;
}

std::optional<disagreement> disagreement_in(const reply& slots, const server_address& asked,
                                            const slot_map& map) {
    disagreement found;
    for (const slot_range& each : read_slots(slots, asked)) {
        if (each.primary.host.empty())
            continue;
        for (std::size_t slot = each.first; slot <= each.last; ++slot) {
            const slot_map::node_number owner = map.owner(static_cast<std::uint16_t>(slot));
            if (owner == slot_map::nobody || map.address(owner) == each.primary)
                continue;
            if (found.slots++ == 0) {
                found.first = static_cast<std::uint16_t>(slot);
                found.named = each.primary;
            }
        }
    }
    return found.slots > 0 ? std::optional{found} : std::nullopt;
}

namespace {

/// Returns why no server replied.
std::string silence_of(const inquiries& one) {
    const std::string told = one.troubles();
    return told.empty() ? "no answer in time" : told;
}

sentinel_report read_sentinel_report(const server_address& where, const inquiries& one) {
    sentinel_report told{.address = net::address_of(where)};
    if (one.answers().empty()) {
        told.trouble = silence_of(one);
        return told;
    }
    const std::vector<reply>& said = one.answers().front().said;
    try {
        told.primary = read_sentinel(said[0], said[1]).primary;
        told.service = read_service(said[0]);
    } catch (const net::failure& why) {
        told.trouble = why.text();
    }
    return told;
}

} // namespace

/// Groups of questions to several servers. All groups run at the same time. The destructor ends all
/// questions.
class topology_inspector::rounds {
public:
    explicit rounds(topology_inspector& of)
        : of_{of}
        , wake_{of.context_->home.time.make_alarm()} {
        of_.waiting_.insert(wake_.get());
    }
    rounds(const rounds&) = delete;
    ~rounds() {
        of_.waiting_.erase(wake_.get());
        for (const std::shared_ptr<inquiries>& each : all_)
            each->end();
    }

    inquiries& begin(std::function<login()> who, std::string words, std::size_t answers) {
        all_.push_back(std::make_shared<inquiries>(of_.context_, std::move(who), std::move(words),
                                                   answers, *wake_));
        return *all_.back();
    }
    inquiries& begin(questioned whom) {
        const auto who = [context = of_.context_] {
            return net::credentials_now({context->how.user, context->how.password},
                                        context->how.credentials);
        };
        return begin(who, questions_for(whom), count_of_questions(whom));
    }

    asio::awaitable<void> settled(time_point limit) {
        const auto closed = [this] { return of_.closed_; };
        for (const std::shared_ptr<inquiries>& each : all_)
            co_await each->settled(inquiries::enough::one, settles_in, limit, closed);
        if (of_.closed_)
            throw net::failure{errc::closed, "the client is closed"};
    }

    const std::vector<std::shared_ptr<inquiries>>& all() const { return all_; }

private:
    topology_inspector& of_;
    const std::unique_ptr<alarm> wake_;
    std::vector<std::shared_ptr<inquiries>> all_;
};

topology_inspector::topology_inspector(known_context context)
    : context_{std::move(context)} {}

time_point topology_inspector::limit() const {
    return net::later(context_->home.time.now(), context_->how.connect_timeout);
}

asio::awaitable<server_report> topology_inspector::ask_primary() {
    const std::shared_ptr<const destination> where = context_->where;
    server_report told{.address = context_->address()};
    if (!where)
        co_return told;
    rounds all{*this};
    inquiries& one = all.begin(questioned::server);
    one.ask(where, limit());
    co_await all.settled(limit());
    if (one.answers().empty()) {
        told.trouble = silence_of(one);
        co_return told;
    }
    told = read_answers(questioned::server, one.answers().front().said, {}, nullptr);
    told.address = where->address;
    co_return told;
}

asio::awaitable<std::vector<server_report>>
topology_inspector::ask(std::vector<server_address> whom, questioned what, const slot_map* map) {
    rounds all{*this};
    for (const server_address& each : whom)
        all.begin(what).ask(each, context_->how.tls, limit());
    co_await all.settled(limit());
    std::vector<server_report> told;
    for (std::size_t i = 0; i < whom.size(); ++i) {
        const inquiries& one = *all.all()[i];
        if (one.answers().empty())
            told.push_back({.address = net::address_of(whom[i]), .trouble = silence_of(one)});
        else
            told.push_back(read_answers(what, one.answers().front().said, whom[i], map));
    }
    co_return told;
}

asio::awaitable<std::vector<sentinel_report>> topology_inspector::ask_sentinels() {
    const sentinel_options& set = *context_->how.sentinel;
    std::string words;
    ask_sentinel(composer{words}, set.service);
    const auto who = [context = context_] { return sentinel_login(*context); };
    rounds all{*this};
    for (const server_address& each : set.addresses)
        all.begin(who, words, sentinel_questions).ask(sentinel_at(each), set.tls, limit());
    co_await all.settled(limit());
    std::vector<sentinel_report> told;
    for (std::size_t i = 0; i < set.addresses.size(); ++i)
        told.push_back(read_sentinel_report(sentinel_at(set.addresses[i]), *all.all()[i]));
    co_return told;
}

asio::awaitable<topology_report> topology_inspector::examine_primary() {
    const auto self = shared_from_this();
    topology_report found{.what = topology_report::kind::single,
                          .over_tls = context_->how.tls.has_value()};
    if (context_->how.sentinel) {
        found.what = topology_report::kind::sentinels;
        found.service = context_->how.sentinel->service;
        found.sentinels = co_await ask_sentinels();
    }
    shard_report all;
    all.primary = co_await ask_primary();
    std::vector<server_address> replicas = replicas_in(all.primary.info);
    all.replicas = co_await ask(std::move(replicas), questioned::server, nullptr);
    found.shards.push_back(std::move(all));
    co_return found;
}

asio::awaitable<topology_report> topology_inspector::examine_cluster(slot_map map, telling form) {
    const auto self = shared_from_this();
    topology_report found{.what = topology_report::kind::cluster,
                          .over_tls = context_->how.tls.has_value(),
                          .unserved_slots = map.unserved(),
                          .form = form};
    std::vector<server_address> whom;
    for (const slot_map::node_number primary : map.primaries()) {
        whom.push_back(map.address(primary));
        for (const slot_map::node_number replica : map.replicas_of(primary))
            whom.push_back(map.address(replica));
    }
    std::vector<server_report> told =
        co_await ask(std::move(whom), questioned::node_of_cluster, &map);
    auto next = told.begin();
    for (const slot_map::node_number primary : map.primaries()) {
        shard_report one{.primary = std::move(*next++)};
        for (std::size_t i = 0; i < map.replicas_of(primary).size(); ++i)
            one.replicas.push_back(std::move(*next++));
        found.shards.push_back(std::move(one));
    }
    co_return found;
}

void topology_inspector::close() {
    if (std::exchange(closed_, true))
        return;
    for (alarm* const each : waiting_)
        each->ring();
}

} // namespace holdfast::redis
