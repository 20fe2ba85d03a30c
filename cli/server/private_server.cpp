// SPDX-License-Identifier: Apache-2.0
#include "cli/server/private_server.hpp"

#include "cli/command_line.hpp"
#include "cli/server/server_link.hpp"
#include "cli/terminal/say.hpp"

#include <holdfast/time.hpp>

#include <algorithm>
#include <cstdlib>
#include <thread>

namespace cli {
namespace {

/// Number of timeouts before a server is given up that accepts connections but does not reply. Such
/// a server is stopped or stuck. A server that is starting or ending does not behave in this way.
constexpr int silences_max = 2;

/// Returns the number of keys that do not require the server to stay. There are three kinds:
///  - Client information (docs/protocol/client.md). It stays for a minute after a client was
///  killed.
///  - Counters of fencing tokens, which stay for ever. Tokens grow even if the counters are lost
///    (docs/protocol/fenced.md, dated tokens).
///  - Queues of fair locks. A waiter is connected anyway. The queue entry of a killed waiter stays
///    until another client asks for the lock.
long keys_without_use(server_link& link) {
    const std::string number = link.ask(
        "EVAL \"local count = 0 for _, kind in ipairs({'holdfast_client', 'redisson_lock_token', "
        "'redisson_lock_queue', 'redisson_lock_timeout'}) do "
        "count = count + #redis.call('keys', kind .. ':*') end return tostring(count)\" 0");
    return std::atol(number.c_str());
}

void find_or_start(const private_folder& home) {
    const auto give_up_at = holdfast::boot_clock::now() + 2 * server_start_patience;
    for (int silences = 0;;) {
        auto link = server_link::open(home.socket());
        if (link && link->answers())
            return;
        silences += link && link->was_silent() ? 1 : 0;
        // A server that accepts connections is running, even if its other files are missing.
        const auto lock = link ? std::nullopt : home.try_to_serve();
        if (lock)
            start_supervisor(home, *lock);
        else if (silences == silences_max || holdfast::boot_clock::now() > give_up_at)
            throw no_server{"the private server in " + printable(home.path()) +
                            " does not answer; 'holdfast server stop --force' ends it"};
        else
            std::this_thread::sleep_for(look_again); // another program is starting the server
    }
}

} // namespace

holdfast::duration server_linger() {
    using namespace std::chrono_literals;
    const char* const told = std::getenv("HOLDFAST_SERVER_LINGER");
    if (told == nullptr)
        return 60s;
    return std::chrono::ceil<holdfast::duration>(
        std::min(parse_time("HOLDFAST_SERVER_LINGER", told), std::chrono::duration<double>{24h}));
}

std::string use_private_server() {
    (void)server_linger(); // read the variable here, where a mistake can be reported to the user
    // Static, because the server counts as used until this process ends.
    static const private_folder home = private_folder::make();
    if (!home.use(2 * server_start_patience))
        throw no_server{"the private server in " + printable(home.path()) + " does not end"};
    find_or_start(home);
    ::unsetenv("HOLDFAST_USERNAME");
    ::unsetenv("HOLDFAST_PASSWORD");
    return url_of(home);
}

std::string url_of(const private_folder& home) {
    return private_folder::url_of_socket(home.socket());
}

std::string private_server_url() {
    return private_folder::url_of_socket(private_folder::likely_path() + "/socket");
}

std::vector<std::string> variables_of_private_server(const std::string& url) {
    const std::string name = "HOLDFAST_PRIVATE_SERVER";
    if (url != private_server_url())
        return {name};
    return {name + "=" + private_folder::likely_path(), "HOLDFAST_USERNAME", "HOLDFAST_PASSWORD"};
}

server_use use_of(server_link& link) {
    server_use found;
    // Read this number first. Keys that are added meanwhile can only raise the result.
    const long without_use = keys_without_use(link);
    const std::string databases = link.ask("INFO keyspace"); // db0:keys=1,expires=1,...
    for (std::size_t at = 0; (at = databases.find(":keys=", at)) != std::string::npos; ++at)
        found.keys += std::atol(databases.c_str() + at + 6);
    found.keys = std::max(0L, found.keys - without_use);
    found.connections = number_in(link.ask("INFO clients"), "connected_clients") - 1;
    return found;
}

} // namespace cli
