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

namespace holdfast::redis {
namespace {

/// Names in one script: it stalls the server for no longer than a few lock requests do, and is
/// what Redisson sends.
constexpr std::size_t batch_max = 100;

using held_flags = std::vector<std::int64_t>;

asio::awaitable<held_flags> renew_batch(node& server, std::span<const hold> batch,
                                        duration lease_time) {
    std::vector<std::string> owners;
    std::vector<std::string_view> keys;
    std::vector<argument> arguments{lease_time.count()};
    owners.reserve(batch.size()); // the arguments point into it
    for (const hold& each : batch) {
        keys.emplace_back(each.name.text);
        arguments.emplace_back(std::string_view{owners.emplace_back(to_string(each.owner))});
    }
    const reply answer = co_await server.call(scripts::renew_leases, keys, arguments);

    if (items(answer).size() != batch.size())
        throw_unexpected_answer();
    held_flags flags;
    for (const reply& each : answer.items)
        flags.push_back(integer(each));
    co_return flags;
}

std::vector<std::span<const hold>> batches_of(std::span<const hold> holds) {
    std::vector<std::span<const hold>> batches;
    for (; holds.size() > batch_max; holds = holds.subspan(batch_max))
        batches.push_back(holds.first(batch_max));
    batches.push_back(holds);
    return batches;
}

/// All at once: one behind the other, a slow connection could let the last ones run out.
asio::awaitable<std::vector<held_flags>> renew_batches(node& server, asio::any_io_executor executor,
                                                       std::span<const hold> holds,
                                                       duration lease_time) {
    const auto start = [&](std::span<const hold> batch) {
        return asio::co_spawn(executor, renew_batch(server, batch, lease_time), asio::deferred);
    };
    std::vector<decltype(start(holds))> under_way;
    for (const std::span<const hold> batch : batches_of(holds))
        under_way.push_back(start(batch));
    auto all = asio::experimental::make_parallel_group(std::move(under_way));
    // In the order of the batches: who ended first, what they threw, what they returned.
    auto outcomes =
        co_await all.async_wait(asio::experimental::wait_for_all{}, asio::use_awaitable);
    for (const std::exception_ptr& failure : std::get<1>(outcomes))
        if (failure)
            std::rethrow_exception(failure);
    co_return std::get<2>(std::move(outcomes));
}

} // namespace

asio::awaitable<std::vector<answer>> renew_leases(node& server, asio::any_io_executor executor,
                                                  std::vector<hold> holds, duration lease_time) {
    std::vector<answer> answers;
    if (holds.empty())
        co_return answers;
    const std::vector<held_flags> batches =
        co_await renew_batches(server, std::move(executor), holds, lease_time);
    for (const held_flags& batch : batches)
        for (const std::int64_t held : batch)
            answers.push_back(held == 1 ? answer{.granted = true, .term = lease_time} : answer{});
    co_return answers;
}

} // namespace holdfast::redis
