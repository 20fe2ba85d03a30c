// SPDX-License-Identifier: Apache-2.0
#include "url.hpp"

#include "refusal.hpp"
#include "runtime/wipe.hpp"
#include "url/foreign.hpp"
#include "url/parameters.hpp"
#include "url/parts.hpp"
#include "url/server.hpp"

#include <holdfast/memory/server.hpp>
#include <holdfast/redis/options.hpp>

#include <utility>

namespace holdfast {
namespace {

using url::parts;

options with_server(const parts& all, options how) {
    redis::options server = url::read_server(all);
    server.credentials = how.credentials;
    url::apply_parameters(all, how, &server);
    if (server.sentinel)
        server.sentinel->tls = server.tls; // the same files
    how.store = redis::make_store(std::move(server));
    return how;
}

options with_memory(const parts& all, options how) {
    if (all.has_authority)
        refuse("url: memory: is followed by a name and no slashes, as in memory:test");
    if (all.path.empty())
        refuse("url: memory: needs a name behind it, as in memory:test");
    url::apply_parameters(all, how, nullptr);
    how.store = memory::server::named(all.path)->connect();
    return how;
}

} // namespace

options resolve_url(options how) {
    const parts all = url::split(how.url);
    runtime::wipe(how.url); // a client keeps its options, and this one may hold a password
    url::refuse_what_others_write(all);
    if (url::names_server(all))
        return with_server(all, std::move(how));
    if (all.scheme == "memory")
        return with_memory(all, std::move(how));
    refuse("url: there is no scheme " + in_quotes(all.scheme) +
           "; redis://, rediss://, unix:// (or redis+unix://), redis+sentinel://, "
           "rediss+sentinel://, redis+cluster://, rediss+cluster:// and memory: are allowed");
}

} // namespace holdfast
