// SPDX-License-Identifier: Apache-2.0
#include "zookeeper/ensemble.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::zookeeper {
namespace {

constexpr duration patience_least{10};
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

duration ensemble::patience(duration longest, std::optional<duration> session_timeout) const {
    const auto all = static_cast<duration::rep>(servers_.size());
    const duration first = std::min(longest / all, session_timeout.value_or(duration::max()) / 6);
    const std::size_t rounds = std::min(failed_ / servers_.size(), doublings_max);
    const duration grown = std::max(first, patience_least) * (duration::rep{1} << rounds);
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

} // namespace holdfast::zookeeper
