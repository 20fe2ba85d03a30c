// SPDX-License-Identifier: Apache-2.0
#include "redis/topology/inquiries.hpp"

#include "net/byte_stream.hpp"
#include "net/deadlines.hpp"
#include "runtime/background.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace holdfast::redis {
namespace {

/// Returns an endpoint with the address to connect to, and with the name for which the TLS
/// certificate must be valid.
target by_address(const server_address& named, std::string address,
                  std::optional<tls_options> tls) {
    if (tls && tls->server_name.empty())
        tls->server_name = named.host;
    return std::make_shared<const destination>(server_address{std::move(address), named.port}, tls);
}

} // namespace

inquiries::inquiries(known_context context, std::function<login()> who, std::string words,
                     std::size_t answers, alarm& wake)
    : context_{std::move(context)}
    , who_{std::move(who)}
    , words_{std::move(words)}
    , each_{answers}
    , wake_{&wake} {}

void inquiries::ask(const server_address& whom, const tls& over, time_point limit) {
    expect(1);
    runtime::run_in_background(context_->home, ask_host(shared_from_this(), whom, over, limit));
}

void inquiries::ask(target whom, time_point limit) {
    expect(1);
    const server_address named{whom->host, whom->port};
    runtime::run_in_background(context_->home,
                               ask_one(shared_from_this(), named, std::move(whom), limit));
}

void inquiries::ask_by(server_address whom, asio::awaitable<reply> way) {
    expect(1);
    runtime::run_in_background(context_->home,
                               ask_otherwise(shared_from_this(), std::move(whom), std::move(way)));
}

asio::awaitable<void> inquiries::settled(enough count, duration timeout, time_point limit,
                                         std::function<bool()> given_up) {
    const clock& time = context_->home.time;
    const time_point settled_at = net::later(time.now(), timeout);
    while (pending_ > 0 && time.now() < limit && !given_up()) {
        const bool some = count == enough::one ? !answers_.empty() : 2 * answers_.size() > asked_;
        if (some && time.now() >= settled_at)
            break;
        co_await wake_->wait_until(some ? std::min(settled_at, limit) : limit);
    }
}

void inquiries::end() {
    wake_ = nullptr;
    for (alarm* const each : looking_up_)
        each->ring();
    for (const std::shared_ptr<connection>& each : lines_)
        each->cut({errc::unreachable, "nobody waits for its answer any more"});
}

asio::awaitable<void> inquiries::ask_host(self mine, server_address named, tls over,
                                          time_point limit) {
    std::vector<target> all;
    try {
        all = co_await mine->find(named, std::move(over));
    } catch (const std::exception& why) {
        mine->failed(named, named.host + ": " + net::story_of(why));
    }
    if (all.empty()) {
        mine->told();
        co_return;
    }
    mine->expect(all.size() - 1);
    for (std::size_t i = 1; i < all.size(); ++i)
        runtime::run_in_background(mine->context_->home, ask_one(mine, named, all[i], limit));
    co_await ask_one(mine, named, all.front(), limit);
}

asio::awaitable<std::vector<target>> inquiries::find(server_address named, tls over) {
    if (named.host.starts_with('/'))
        co_return std::vector{by_address(named, named.host, over)};
    const std::unique_ptr<alarm> wake = context_->home.time.make_alarm();
    looking_up_.insert(wake.get());
    std::vector<target> all;
    std::exception_ptr trouble;
    try {
        const auto given_up = [this] { return wake_ == nullptr; };
        const auto found =
            co_await net::look_up(context_->home.executor, named.host, named.port, *wake, given_up);
        for (const auto& each : found)
            all.push_back(by_address(named, each.address().to_string(), over));
    } catch (...) {
        trouble = std::current_exception();
    }
    looking_up_.erase(wake.get());
    if (trouble)
        std::rethrow_exception(trouble);
    co_return all;
}

asio::awaitable<void> inquiries::ask_one(self mine, server_address named, target where,
                                         time_point limit) {
    const node_context& context = *mine->context_;
    const auto line = std::make_shared<connection>(context.home, context.how);
    mine->lines_.insert(line);
    try {
        if (!mine->wake_)
            throw net::failure{errc::unreachable, "nobody waits for its answer any more"};
        std::vector<reply> said =
            co_await inquire(context, *line, where, mine->who_(), mine->words_, mine->each_, limit);
        mine->answers_.push_back({named, std::move(said)});
    } catch (const std::exception& why) {
        mine->failed(named, where->address + ": " + net::story_of(why));
    }
    mine->lines_.erase(line);
    mine->told();
}

asio::awaitable<void> inquiries::ask_otherwise(self mine, server_address whom,
                                               asio::awaitable<reply> way) {
    try {
        answer got{whom, {}};
        got.said.push_back(co_await std::move(way));
        mine->answers_.push_back(std::move(got));
    } catch (const std::exception& why) {
        mine->failed(whom, whom.host + ':' + std::to_string(whom.port) + ": " + net::story_of(why));
    }
    mine->told();
}

void inquiries::expect(std::size_t more) {
    asked_ += more;
    pending_ += more;
}

void inquiries::told() {
    --pending_;
    if (wake_)
        wake_->ring();
}

void inquiries::failed(server_address whom, std::string why) {
    failures_.push_back({std::move(whom), std::move(why)});
}

std::string inquiries::troubles() const {
    std::string all;
    const auto add = [&](const std::string& one) {
        all.append(all.empty() ? "" : "; ").append(one);
    };
    for (const failing& one : failures_)
        add(one.why);
    for (const std::shared_ptr<connection>& each : lines_)
        if (each->to())
            add(each->to()->address + ": no answer in time (" + each->occupation() + ")");
    return all;
}

} // namespace holdfast::redis
