// SPDX-License-Identifier: Apache-2.0
#include "store/redis/redis_store.hpp"

#include "net/failure.hpp"
#include "net/tls_context.hpp"
#include "redis/mutants.hpp"
#include "redis/make_node.hpp"

#include <holdfast/error.hpp>
#include <holdfast/redis/options.hpp>

#include <boost/system/system_error.hpp>

#include <string_view>

#include <sys/un.h>

namespace holdfast::redis {
namespace {

void require(bool holds, std::string_view why_not) {
    if (!holds)
        throw boost::system::system_error{make_error_code(errc::invalid_argument),
                                          "redis::options: " + std::string{why_not}};
}

/// Timers count milliseconds on 64 bits; nobody waits for a server for longer than this.
constexpr duration longest = std::chrono::hours{24};

/// What is beyond these is a slip of the pen: a server has ten thousand connections for all.
constexpr std::size_t lanes_most = 1000;
constexpr std::chrono::microseconds polling_longest = std::chrono::milliseconds{10};

void check_address(const options& how) {
    if (how.unix_socket.empty()) {
        require(!how.host.empty(), "host is empty");
        require(how.host.find('\0') == std::string::npos, "host contains a NUL byte");
        require(how.port != 0, "port is 0");
        return;
    }
    require(how.unix_socket.find('\0') == std::string::npos, "unix_socket contains a NUL byte");
    require(how.unix_socket.size() < sizeof(sockaddr_un::sun_path),
            "unix_socket is longer than the 107 bytes that the system allows");
}

/// What a certificate or a hello can carry at all.
constexpr std::size_t server_name_bytes_max = 253;

void check_tls(const options& how) {
    const tls_options& tls = *how.tls;
    require(how.unix_socket.empty(), "tls is for TCP, and unix_socket is given");
    require(tls.certificate_file.empty() == tls.key_file.empty(),
            "tls.certificate_file and tls.key_file belong together, and one is missing");
    const std::string& name = tls.server_name.empty() ? how.host : tls.server_name;
    require(name.size() <= server_name_bytes_max, "the server's name is longer than any can be");
    require(name.find('\0') == std::string::npos, "tls.server_name contains a NUL byte");
    try {
        net::check_files(tls);
    } catch (const net::failure& why) {
        require(false, why.text());
    }
}

void check_time(duration value, std::string_view field, duration least = duration{1}) {
    require((value >= least && value <= longest) || planted(mutant::times_unbounded),
            std::string{field} + " is " + std::to_string(value.count()) + " ms; allowed are " +
                std::to_string(least.count()) + " ms to 1 day");
}

void check(const options& how) {
    check_address(how);
    if (how.tls)
        check_tls(how);
    check_time(how.connect_timeout, "connect_timeout");
    check_time(how.command_timeout, "command_timeout");
    check_time(how.backoff_min, "backoff_min");
    check_time(how.backoff_max, "backoff_max");
    require(how.backoff_min <= how.backoff_max, "backoff_min is longer than backoff_max");
    check_time(how.subscription_linger, "subscription_linger", duration::zero());
    check_time(how.fair_wait, "fair_wait");
    require(how.redisson <= redisson_form::v3_17, "redisson is none of v3_13, v3_16 and v3_17");
    require(how.lanes_max <= lanes_most, "lanes_max is more than 1000");
    require(how.polling >= how.polling.zero() && how.polling <= polling_longest,
            "polling is " + std::to_string(how.polling.count()) +
                " us; allowed are 0 us to 10000 us");
    require(how.requests_max > 0, "requests_max is 0");
    require(how.reply_bytes_max > 0, "reply_bytes_max is 0");
}

} // namespace

store_factory make_store(options how) {
    check(how);
    return [how = std::move(how)](store_context context) -> std::unique_ptr<store> {
        std::unique_ptr<node> server = make_node(how, context);
        return std::make_unique<redis_store>(std::move(server), std::move(context));
    };
}

} // namespace holdfast::redis
