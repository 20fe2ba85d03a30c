// SPDX-License-Identifier: Apache-2.0
#include "store/zookeeper/semaphore_paths.hpp"

#include <holdfast/counters.hpp>

#include <algorithm>
#include <charconv>

namespace holdfast::zookeeper {
namespace {

std::string_view first_line(std::string_view data) {
    return data.substr(0, data.find('\n'));
}

} // namespace

// The number alone is what people read and write, and what kazoo's semaphores have there.

std::optional<std::int64_t> capacity_in(std::string_view data) {
    const std::string_view number = first_line(data);
    std::int64_t permits = 0;
    const char* const end = number.data() + number.size();
    const auto [stopped, ec] = std::from_chars(number.data(), end, permits);
    if (ec != std::errc{} || stopped != end || permits < 0 || permits > counted_max)
        return std::nullopt;
    return permits;
}

std::string capacity_data(std::int64_t permits, const owner_id& request) {
    return std::to_string(permits) + '\n' + to_string(request) + '\n';
}

bool was_set_by(std::string_view data, const owner_id& request) {
    const std::size_t end = first_line(data).size();
    return end < data.size() && first_line(data.substr(end + 1)) == to_string(request);
}

asio::awaitable<std::optional<std::int64_t>> read_capacity(household& home,
                                                           const semaphore_paths& at) {
    std::string path = at.itself;
    const std::optional<node_data> found = co_await home.at->get(std::move(path));
    co_return found ? capacity_in(found->data) : std::nullopt;
}

} // namespace holdfast::zookeeper
