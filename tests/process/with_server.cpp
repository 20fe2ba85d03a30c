// SPDX-License-Identifier: Apache-2.0
#include "process/with_server.hpp"

#include <sstream>
#include <string_view>

namespace holdfast::process {

void with_server::SetUp() {
    try {
        server_.emplace(support::servers().front(), how_);
    } catch (const support::server_unavailable& why) {
        if (support::servers_are_required())
            FAIL() << why.what();
        GTEST_SKIP() << why.what();
    }
}

bool with_server::is_free(const std::string& name) {
    return server().command({"EXISTS", name}).integer == 0;
}

bool with_server::is_renewed(const std::string& name) {
    const auto left = [&] { return server().command({"PTTL", name}).integer; };
    return eventually([&left, before = left()]() mutable {
        const std::int64_t last = std::exchange(before, left());
        return before > last && last > 0;
    });
}

bool with_server::is_waited_for(const std::string& name) {
    const std::string channel = "redisson_lock__channel:{" + name + "}";
    return server().command({"PUBSUB", "NUMSUB", channel}).items.at(1).integer > 0;
}

std::int64_t with_server::scripts_asked() {
    const std::string all = server().command({"INFO", "commandstats"}).text;
    const std::string_view before = "cmdstat_evalsha:calls=";
    const std::size_t at = all.find(before);
    return at == std::string::npos ? 0 : std::stoll(all.substr(at + before.size()));
}

std::set<std::string> with_server::connections() {
    std::istringstream clients{server().command({"CLIENT", "LIST"}).text};
    std::set<std::string> numbers;
    for (std::string line; std::getline(clients, line);)
        if (line.find(" cmd=client") == line.npos) // who asks
            numbers.insert(line.substr(0, line.find(' ')));
    return numbers;
}

} // namespace holdfast::process
