// SPDX-License-Identifier: Apache-2.0
#include "redis/sentinel/sentinel_round.hpp"

#include "net/credentials.hpp"
#include "net/look_up.hpp"
#include "redis/link/inquiry.hpp"
#include "runtime/background.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace holdfast::redis {
namespace {

/// It is known by its address; its certificate is for its name.
target by_address(const server_address& named, const std::string& address,
                  std::optional<tls_options> tls) {
    if (tls && tls->server_name.empty())
        tls->server_name = named.host;
    return std::make_shared<const destination>(server_address{address, named.port}, tls);
}

} // namespace

credentials sentinel_login(const node_context& context) {
    const sentinel_options& own = *context.how.sentinel;
    if (!own.user.empty() || !own.password.empty())
        return {own.user, own.password};
    return net::credentials_now({context.how.user, context.how.password}, context.how.credentials);
}

sentinel_round::sentinel_round(known_context context, alarm& wake)
    : context_{std::move(context)}
    , wake_{&wake} {}

void sentinel_round::begin(time_point limit) {
    for (server_address each : context_->how.sentinel->addresses) {
        if (each.port == 0)
            each.port = sentinel_port;
        ++asked_;
        ++pending_;
        runtime::run_in_background(context_->home,
                                   ask_host(shared_from_this(), std::move(each), limit));
    }
}

void sentinel_round::end() {
    wake_ = nullptr;
    for (alarm* const each : looking_up_)
        each->ring();
    for (const std::shared_ptr<connection>& each : lines_)
        each->cut({errc::unreachable, "nobody waits for its answer any more"});
}

/// A name that has several addresses stands for as many Sentinels.
asio::awaitable<void> sentinel_round::ask_host(self mine, server_address named, time_point limit) {
    std::vector<target> all;
    try {
        all = co_await mine->find(named);
    } catch (const std::exception& why) {
        mine->failed(named.host, why.what());
    }
    if (all.empty()) {
        mine->told();
        co_return;
    }
    mine->asked_ += all.size() - 1;
    mine->pending_ += all.size() - 1;
    for (std::size_t i = 1; i < all.size(); ++i)
        runtime::run_in_background(mine->context_->home, ask(mine, all[i], limit));
    co_await ask(mine, all.front(), limit);
}

asio::awaitable<std::vector<target>> sentinel_round::find(server_address named) {
    const std::unique_ptr<alarm> wake = context_->home.time.make_alarm();
    looking_up_.insert(wake.get());
    const auto given_up = [this] { return wake_ == nullptr; };
    std::vector<target> all;
    std::exception_ptr trouble;
    try {
        const auto found = co_await net::look_up(context_->home.executor, named.host, named.port,
                                                 *wake, given_up);
        for (const auto& each : found)
            all.push_back(
                by_address(named, each.address().to_string(), context_->how.sentinel->tls));
    } catch (...) {
        trouble = std::current_exception();
    }
    looking_up_.erase(wake.get());
    if (trouble)
        std::rethrow_exception(trouble);
    co_return all;
}

asio::awaitable<void> sentinel_round::ask(self mine, target where, time_point limit) {
    const node_context& context = *mine->context_;
    const auto line = std::make_shared<connection>(context.home, context.how);
    mine->lines_.insert(line);
    try {
        if (!mine->wake_)
            throw net::failure{errc::unreachable, "nobody waits for its answer any more"};
        std::string words;
        ask_sentinel(composer{words}, context.how.sentinel->service);
        const std::vector<reply> said = co_await inquire(
            context, *line, where, sentinel_login(context), std::move(words), 2, limit);
        mine->answers_.push_back(read_sentinel(said[0], said[1]));
    } catch (const net::failure& why) {
        mine->failed(where->address, why.text());
    } catch (const std::exception& why) {
        mine->failed(where->address, why.what());
    }
    mine->lines_.erase(line);
    mine->told();
}

void sentinel_round::told() {
    --pending_;
    if (wake_)
        wake_->ring();
}

void sentinel_round::failed(const std::string& whom, const std::string& why) {
    troubles_.push_back(whom + ": " + why);
}

std::string sentinel_round::troubles() const {
    std::string all;
    for (const std::string& one : troubles_)
        all.append(all.empty() ? "" : "; ").append(one);
    return all;
}

} // namespace holdfast::redis
