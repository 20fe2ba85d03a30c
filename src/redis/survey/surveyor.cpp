// SPDX-License-Identifier: Apache-2.0
#include "redis/survey/surveyor.hpp"

#include "net/address.hpp"
#include "net/credentials.hpp"
#include "net/later.hpp"
#include "redis/sentinel/sentinel_login.hpp"
#include "redis/survey/replica_lines.hpp"

#include <utility>

namespace holdfast::redis {
namespace {

/// Returns the reason why no server replied.
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

/// Groups of questions to several servers that run at once. The destructor stops the questions.
class surveyor::rounds {
public:
    explicit rounds(surveyor& of)
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
    surveyor& of_;
    const std::unique_ptr<alarm> wake_;
    std::vector<std::shared_ptr<inquiries>> all_;
};

surveyor::surveyor(known_context context)
    : context_{std::move(context)} {}

time_point surveyor::limit() const {
    return net::later(context_->home.time.now(), context_->how.connect_timeout);
}

asio::awaitable<server_report> surveyor::ask_primary() {
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

asio::awaitable<std::vector<server_report>> surveyor::ask(std::vector<server_address> whom,
                                                          questioned what, const slot_map* map) {
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

asio::awaitable<std::vector<sentinel_report>> surveyor::ask_sentinels() {
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

asio::awaitable<topology_report> surveyor::examine_primary() {
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

asio::awaitable<topology_report> surveyor::examine_cluster(slot_map map, telling form) {
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

void surveyor::close() {
    if (std::exchange(closed_, true))
        return;
    for (alarm* const each : waiting_)
        each->ring();
}

} // namespace holdfast::redis
