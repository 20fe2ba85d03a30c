// SPDX-License-Identifier: Apache-2.0
// Reads the URL of a client: the store, the way to reach it, and the timeouts.
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

#include <holdfast/options.hpp>

namespace holdfast {

/// Returns the options with the values of their URL. Parameters of the URL override the fields, and
/// `store` is set to the store of the URL. The URL itself is wiped. Sends nothing. Throws
/// `errc::invalid_argument`; the text names the wrong part and the allowed values, and never
/// contains a password.
options resolve_url(options how);

} // namespace holdfast
