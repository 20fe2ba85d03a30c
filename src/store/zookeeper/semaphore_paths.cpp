// SPDX-License-Identifier: Apache-2.0
#include "store/zookeeper/semaphore_paths.hpp"

#include "store/zookeeper/other_kinds.hpp"

#include <holdfast/counters.hpp>

#include <algorithm>
#include <cstddef>

namespace holdfast::zookeeper {
namespace {

constexpr std::size_t bytes_of_number = 4;
constexpr std::string_view before_request = "\n";

} // namespace

// Format of Curator's SharedCount: a number of four bytes, the highest byte first. SharedCount
// ignores all later bytes. A Java program can therefore pass the SharedCount of this path to its
// semaphore, and has the same total.

std::optional<std::int64_t> capacity_in(std::string_view data) {
    const std::string_view behind = data.substr(std::min(data.size(), bytes_of_number));
    const bool is_number =
        data.size() >= bytes_of_number && (behind.empty() || behind.starts_with(before_request));
    if (!is_number)
        return std::nullopt; // data of a node that Curator made: empty or an address, but no number
    std::uint32_t number = 0;
    for (const char byte : data.substr(0, bytes_of_number))
        number = (number << 8) | static_cast<unsigned char>(byte);
    if (number > counted_max)
        return std::nullopt;
    return number;
}

std::string capacity_data(std::int64_t permits, const owner_id& request) {
    std::string data;
    for (int shift = 24; shift >= 0; shift -= 8)
        data += static_cast<char>((permits >> shift) & 255);
    data += before_request;
    return data + to_string(request);
}

bool was_set_by(std::string_view data, const owner_id& request) {
    return data.size() > bytes_of_number &&
           data.substr(bytes_of_number + before_request.size()) == to_string(request);
}

asio::awaitable<std::optional<std::int64_t>> read_capacity(household& home,
                                                           const semaphore_paths& at) {
    std::string path = at.itself;
    const std::optional<node_data> found = co_await home.at->get(std::move(path));
    co_return found ? capacity_in(found->data) : std::nullopt;
}

asio::awaitable<void> refuse_lock(household& home, const semaphore_paths& at) {
    std::string path = at.itself;
    const listing names = co_await home.at->list(std::move(path));
    if (const char* const lock = names ? lock_in_words(*names) : nullptr)
        throw_wrong_type(lock, words_for(counter_kind::permits));
}

} // namespace holdfast::zookeeper
