// SPDX-License-Identifier: Apache-2.0
// Connects to each server beside the session, to report on the ensemble.
#include "net/later.hpp"
#include "net/time_limit.hpp"
#include "zookeeper/keeper.hpp"
#include "zookeeper/survey.hpp"

#include <exception>
#include <utility>

namespace holdfast::zookeeper {

asio::awaitable<survey> keeper::look_around() {
    survey all{.over_tls = how_.tls.has_value()};
    for (std::size_t number = 0; number < servers_.size(); ++number) {
        if (closed_)
            throw net::failure{errc::closed, "the client is closed"};
        server_seen seen = co_await visit(number);
        all.servers.push_back(std::move(seen));
    }
    co_return all;
}

asio::awaitable<server_seen> keeper::visit(std::size_t number) {
    server_seen seen{.address = net::address_of(servers_.all()[number])};
    const auto line = std::make_shared<connection>(home_, how_);
    visits_.push_back(line);
    const duration patience = how_.connect_timeout;
    auto give_up = [&line, patience] {
        line->cut({errc::unreachable, "no answer within " + std::to_string(patience.count()) +
                                          " ms (" + line->occupation() + ")"});
    };
    try {
        const time_point give_up_at = net::later(home_.time.now(), patience);
        const net::time_limit limit{home_, give_up_at, give_up};
        co_await line->dial(servers_at_[number], give_up_at);
        line->occupied_with("waiting for what it says of itself");
        const time_point asked_at = home_.time.now();
        line->outbox() += word_for_facts;
        if (!line->send())
            co_await line->send_rest();
        const std::string said = co_await line->words();
        if (!closed_) // after close() the clock may already be destroyed
            seen.delay = home_.time.now() - asked_at;
        read_facts(said, seen);
    } catch (const net::failure& why) {
        seen.trouble = why.text();
    } catch (const std::exception& why) {
        seen.trouble = why.what();
    }
    line->cut({errc::unreachable, "it was a visit"});
    std::erase(visits_, line);
    co_return seen;
}

} // namespace holdfast::zookeeper
