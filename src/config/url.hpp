// SPDX-License-Identifier: Apache-2.0
// Reads the URL of a client. The URL contains the store, its address and the timeouts.
//
//     redis://[user[:password]@]host[:port][/database][?lease_time=10s&prefix=shop:]
//     rediss://...                               the same over TLS
//     unix:///path/to/socket[?database=N]        also redis+unix://
//     redis+sentinel://[user[:password]@]host[:port][,host[:port]...]/service[/database]
//     redis+cluster://[user[:password]@]host[:port][,host[:port]...]
//     rediss+sentinel://..., rediss+cluster://...
//     memory:NAME
//
// docs/url.md describes every parameter.
#pragma once

#include "config/url_parts.hpp"

#include <holdfast/options.hpp>
#include <holdfast/redis/options.hpp>
#include <holdfast/schemes.hpp>
#include <holdfast/zookeeper/options.hpp>

namespace holdfast {

/// Returns the options with the values of `how.url`. Parameters of the URL override the fields, and
/// `store` is set to the store of the URL. The text of the URL is overwritten in memory. Sends
/// nothing. Throws `errc::invalid_argument`; the text names the wrong part and the allowed values,
/// and never contains a password.
options resolve_url(options how);

} // namespace holdfast

namespace holdfast::url {

/// Returns the reader for the scheme of the URL. Throws `errc::invalid_argument` for an unknown
/// scheme. The error text lists the supported schemes, or names the component that adds the scheme.
scheme_reader reader_of(const parts&);

/// Returns the list of schemes for error messages: "redis://, ... and zk://".
std::string allowed_schemes();

/// Throws `errc::invalid_argument` if a URL of Sentinels or a cluster has the form of another
/// client library. The error text shows the form that holdfast accepts. Also throws if the URL has
/// a fragment, because holdfast's URLs have none.
void refuse_what_others_write(const parts&);

/// Reads the parameters that do not depend on the store. Throws `errc::invalid_argument`.
void read_client_parameters(store_url&, options&);

/// Reads the address and the login of a Redis server from a URL, but no parameters. Throws
/// `errc::invalid_argument`.
redis::options read_server(const parts&);

/// Reads the parameters of the URL.
void read_server_parameters(store_url&, redis::options&);

/// Reads the database number in `/N` or `?database=N`.
std::uint32_t read_database(const parts&, std::string_view text);

/// Reads all options of a ZooKeeper ensemble from a URL. Throws `errc::invalid_argument`.
zookeeper::options read_ensemble(store_url&);

} // namespace holdfast::url
