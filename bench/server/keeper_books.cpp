// SPDX-License-Identifier: Apache-2.0
#include "bench/server/keeper_books.hpp"

#include "bench/server/cpu.hpp"

#include <stdexcept>
#include <string_view>

namespace holdfast::bench {

void keeper_books::clear() {
    (void)server_.say("srst");
    transactions_before_ = transactions();
}

std::string keeper_books::trouble_with(const claim& writes) const {
    const long long counted = transactions() - transactions_before_;
    if (counted < writes.least) // there may be more writes, for heartbeats and new sessions
        return "the server wrote " + std::to_string(counted) + " times, and not " +
               std::to_string(writes.least);
    if (const long long left = figure("ephemerals_count"); left > 0)
        return std::to_string(left) + " nodes are left on the server";
    return {};
}

long long keeper_books::commands_sent() const {
    return figure("packets_received");
}

double keeper_books::cpu_seconds() const {
    return cpu_seconds_of(server_.pid());
}

/// Returns the number of the last transaction. The server's line is for example "Zxid: 0x1f".
long long keeper_books::transactions() const {
    constexpr std::string_view before = "Zxid: ";
    const std::string said = server_.say("srvr");
    const std::size_t found = said.find(before);
    if (found == said.npos)
        throw std::runtime_error{"the ZooKeeper server does not tell its last transaction"};
    return std::stoll(said.substr(found + before.size()), nullptr, 16);
}

long long keeper_books::figure(const std::string& name) const {
    return std::stoll(server_.figures().at(name));
}

} // namespace holdfast::bench
