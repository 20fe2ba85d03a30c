// SPDX-License-Identifier: Apache-2.0
// What a URL says about a client: which store, how to reach it, how patient to be.
//
//     redis://[user[:password]@]host[:port][/database][?lease_time=10s&prefix=shop:]
//     rediss://...                               the same over TLS
//     unix:///path/to/socket[?database=N]        also redis+unix://
//     redis+sentinel://[user[:password]@]host[:port][,host[:port]...]/service[/database]
//     redis+cluster://[user[:password]@]host[:port][,host[:port]...]
//     rediss+sentinel://..., rediss+cluster://...
//     memory:NAME
//
// docs/url.md tells of each parameter.
#pragma once

#include <holdfast/options.hpp>

namespace holdfast {

/// The options with what their URL says: its parameters win over the fields, and `store` reaches
/// what it names. The URL itself is gone then. Nothing is sent. Throws `errc::invalid_argument`,
/// with words that name the part that is wrong and what is allowed there, and never show a
/// password.
options resolve_url(options how);

} // namespace holdfast
