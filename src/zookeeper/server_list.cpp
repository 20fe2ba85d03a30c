// SPDX-License-Identifier: Apache-2.0
#include "zookeeper/server_list.hpp"

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

namespace holdfast::zookeeper {
namespace {

constexpr duration attempt_timeout_least{10};
constexpr std::size_t doublings_max = 20;

} // namespace

ensemble::ensemble(std::vector<server_address> servers,
                   const std::function<std::uint64_t()>& random, duration backoff_least,
                   duration backoff_most)
    : servers_{std::move(servers)}
    , backoff_{backoff_least, backoff_most} {
    for (std::size_t left = servers_.size(); left > 1; --left)
        std::swap(servers_[left - 1], servers_[random() % left]);
    for (server_address& one : servers_)
        if (one.port == 0)
            one.port = usual_port;
}

duration ensemble::attempt_timeout(duration longest,
                                   std::optional<duration> session_timeout) const {
    const auto all = static_cast<duration::rep>(servers_.size());
    const duration first = std::min(longest / all, session_timeout.value_or(duration::max()) / 6);
    const std::size_t rounds = std::min(failed_ / servers_.size(), doublings_max);
    const duration grown = std::max(first, attempt_timeout_least) * (duration::rep{1} << rounds);
    return std::min(grown, longest);
}

duration ensemble::leave(std::uint64_t random) {
    at_ = (at_ + 1) % servers_.size();
    ++failed_;
    return failed_ % servers_.size() == 0 ? backoff_.next(random) : duration::zero();
}

void ensemble::served() {
    failed_ = 0;
    backoff_.reset();
}

namespace {

constexpr std::string_view serves_nobody = "not currently serving requests";

/// Returns the text after `name` up to the first character of `ends`. `name` must be at the
/// beginning of a line.
std::string_view field(std::string_view text, std::string_view name, std::string_view ends) {
    for (std::size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
        if (at != 0 && text[at - 1] != '\n')
            continue;
        const std::string_view rest = text.substr(at + name.size());
        return rest.substr(0, rest.find_first_of(ends));
    }
    return {};
}

std::optional<std::int64_t> hexadecimal(std::string_view text) {
    std::int64_t number = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
    return failed == std::errc{} ? std::optional{number} : std::nullopt;
}

} // namespace

void read_facts(std::string_view answer, server_seen& to) {
    if (answer.find(serves_nobody) != answer.npos) {
        to.trouble =
            "it serves no clients now, because it is not connected to a majority of the ensemble";
        return;
    }
    to.role = field(answer, "Mode: ", "\r\n");
    to.version = field(answer, "Zookeeper version: ", "-, \r\n");
    if (const auto last = hexadecimal(field(answer, "Zxid: 0x", "\r\n")))
        to.epoch = *last >> 32;
}

} // namespace holdfast::zookeeper
