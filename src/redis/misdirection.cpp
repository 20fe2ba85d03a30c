// SPDX-License-Identifier: Apache-2.0
#include "redis/misdirection.hpp"

#include "net/address.hpp"

#include <string_view>

namespace holdfast::redis {
namespace {

using kind = reply::kind;

/// Returns a URL, for example `redis+cluster://host:port`. The URL contains HOST:PORT if the
/// address is not known.
std::string url_of(std::string_view what, const options& how) {
    const bool is_known = how.unix_socket.empty() && !how.sentinel && !how.cluster;
    const std::string where = is_known ? net::address_of({}, how.host, how.port) : "HOST:PORT";
    return std::string{how.tls ? "rediss+" : "redis+"}.append(what).append("://").append(where);
}

bool is_redirection(std::string_view error) {
    return error.starts_with("MOVED ") || error.starts_with("ASK ");
}

/// Returns whether the server does not know EVALSHA. A Sentinel does not know EVALSHA, and it is
/// the first command of a client that a Sentinel rejects.
bool knows_no_scripts(std::string_view error) {
    return error.starts_with("ERR unknown command") && error.find("EVALSHA") != error.npos;
}

} // namespace

std::shared_ptr<const net::failure> misdirection(const node_context& context, const reply& answer) {
    if (answer.type != kind::error || context.how.cluster)
        return nullptr;
    const auto told = [&](store_errc code, const std::string& advice) {
        return std::make_shared<const net::failure>(code, answer.text + " (" + advice + ")");
    };
    if (is_redirection(answer.text))
        return told(store_errc::wrong_address,
                    "it is a node of a cluster, whose URL is " + url_of("cluster", context.how));
    if (knows_no_scripts(answer.text))
        return told(store_errc::other, "if it is a Sentinel, " + advice_at_sentinel(context.how));
    return nullptr;
}

bool is_sentinel(const reply& role) {
    return role.type == kind::array && !role.items.empty() && role.items.front().text == "sentinel";
}

std::string advice_at_sentinel(const options& how, const reply* role) {
    std::string service = "SERVICE";
    if (role && role->items.size() > 1 && !role->items[1].items.empty())
        service = role->items[1].items.front().text;
    return "the URL is " + url_of("sentinel", how) + "/" + service;
}

} // namespace holdfast::redis
