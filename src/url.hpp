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

#include <holdfast/options.hpp>

namespace holdfast {

/// Returns the options with the values of `how.url`. Parameters of the URL override the fields, and
/// `store` is set to the store of the URL. The text of the URL is overwritten in memory. Sends
/// nothing. Throws `errc::invalid_argument`; the text names the wrong part and the allowed values,
/// and never contains a password.
options resolve_url(options how);

} // namespace holdfast
