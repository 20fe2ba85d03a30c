// SPDX-License-Identifier: Apache-2.0
#include "url/server.hpp"
#include "url/tls_files.hpp"

#include <charconv>

namespace holdfast::url {
namespace {

void read_sentinel_login(store_url& url, redis::options& server) {
    const auto needed = [&](std::string_view name) -> redis::sentinel_options& {
        if (!server.sentinel)
            url.refuse(std::string{name} + " is for redis+sentinel://");
        server.sentinel->own_login = true;
        return *server.sentinel;
    };
    if (const auto user = url.given("sentinel_user"))
        needed("sentinel_user").user = *user;
    if (const auto password = url.given("sentinel_password"))
        needed("sentinel_password").password = *password;
}

void read_polling(store_url& url, redis::options& server) {
    const auto text = url.given("polling");
    if (!text)
        return;
    std::uint32_t number = 0; // the option has 32 bits
    const char* const end = text->data() + text->size();
    const auto [behind, failed] = std::from_chars(text->data(), end, number);
    if (failed != std::errc{} || std::string_view{behind, end} != "us")
        url.refuse("polling " + url.shown(*text) +
                   " is not a whole number followed by us, as in 100us");
    server.polling = std::chrono::microseconds{number};
}

} // namespace

void read_server_parameters(store_url& url, redis::options& server) {
    using redis::pubsub_form;
    using redis::redisson_form;
    url.read("connect_timeout", server.connect_timeout);
    url.read("command_timeout", server.command_timeout);
    url.read("replica_timeout", server.replica_timeout);
    url.read("address_check", server.address_check);
    url.read("topology_check", server.topology_check);
    url.read_one_of("pubsub", server.pubsub,
                    {{"auto", pubsub_form::automatic},
                     {"plain", pubsub_form::plain},
                     {"sharded", pubsub_form::sharded},
                     {"both", pubsub_form::both}});
    read_sentinel_login(url, server);
    url.read("fair_wait", server.fair_wait);
    url.read_one_of("redisson", server.redisson,
                    {{"3.13", redisson_form::v3_13},
                     {"3.16", redisson_form::v3_16},
                     {"3.17", redisson_form::v3_17}});
    if (const auto database = url.given("database"))
        server.database = read_database(url.inside(), *database);
    url.read("lanes_max", server.lanes_max);
    read_polling(url, server);
    read_tls_files(url, server.tls, "is for rediss://; without the second s nothing is protected");
}

} // namespace holdfast::url
