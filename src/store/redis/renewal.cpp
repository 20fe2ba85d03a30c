// SPDX-License-Identifier: Apache-2.0
#include "store/redis/renewal.hpp"

#include "store/redis/replies.hpp"
#include "store/redis/scripts.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::redis {
namespace {

/// Names in one script: it stalls the server for no longer than a few lock requests do, and is
/// what Redisson sends.
constexpr std::size_t batch_max = 100;

/// What can go in one script: it names the client once, and each hold by its number alone.
hold_list first_batch(hold_list holds) {
    const auto& client = holds.front()->owner.client;
    std::size_t size = 1;
    while (size < std::min(holds.size(), batch_max) && holds[size]->owner.client == client)
        ++size;
    return holds.first(size);
}

std::string client_part(const owner_id& owner) {
    std::string text = to_string(owner);
    text.erase(text.find(':') + 1);
    return text;
}

/// One script about some of the holds; the first of them is number `first` of the list.
asio::awaitable<void> renew_batch(node& server, hold_list batch, std::size_t first,
                                  const renewal_wishes& how, renewal_sink& to) {
    const std::string client = client_part(batch.front()->owner);
    std::vector<std::string_view> names;
    std::vector<argument> arguments{how.lease_time.count(), client};
    names.reserve(batch.size());
    arguments.reserve(arguments.size() + batch.size());
    for (const hold* const each : batch) {
        names.emplace_back(each->name.text);
        arguments.emplace_back(static_cast<std::int64_t>(each->owner.number));
    }
    std::optional<boost::system::system_error> failed;
    std::vector<bool> held(batch.size());
    try {
        const reply said = co_await server.call(scripts::renew_leases, names, arguments);
        const auto& numbers = items(said);
        if (numbers.size() != batch.size())
            throw_unexpected_answer();
        for (std::size_t i = 0; i < batch.size(); ++i)
            held[i] = integer(numbers[i]) == 1;
    } catch (const boost::system::system_error& e) {
        failed = e;
    }
    for (std::size_t i = 0; i < batch.size(); ++i) {
        if (failed)
            to.failed(first + i, *failed);
        else
            to.renewed(first + i,
                       held[i] ? answer{.granted = true, .term = how.lease_time} : answer{});
    }
}

/// All at once: one behind the other, a slow connection could let the last ones run out.
asio::awaitable<void> renew_batches(node& server, asio::any_io_executor executor, hold_list holds,
                                    const renewal_wishes& how, renewal_sink& to) {
    const auto start = [&](hold_list batch, std::size_t first) {
        return asio::co_spawn(executor, renew_batch(server, batch, first, how, to), asio::deferred);
    };
    std::vector<decltype(start(holds, 0))> under_way;
    for (std::size_t first = 0; first < holds.size();) {
        const hold_list batch = first_batch(holds.subspan(first));
        under_way.push_back(start(batch, first));
        first += batch.size();
    }
    auto all = asio::experimental::make_parallel_group(std::move(under_way));
    // In the order of the batches: who ended first, and what they threw.
    auto outcomes =
        co_await all.async_wait(asio::experimental::wait_for_all{}, asio::use_awaitable);
    for (const std::exception_ptr& bug : std::get<1>(outcomes))
        if (bug)
            std::rethrow_exception(bug);
}

} // namespace

asio::awaitable<void> renew_leases(node& server, asio::any_io_executor executor, hold_list holds,
                                   const renewal_wishes& how, renewal_sink& to) {
    if (holds.empty())
        co_return;
    if (first_batch(holds).size() == holds.size())
        co_await renew_batch(server, holds, 0, how, to);
    else
        co_await renew_batches(server, std::move(executor), holds, how, to);
}

} // namespace holdfast::redis
