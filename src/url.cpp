// SPDX-License-Identifier: Apache-2.0
#include "url.hpp"

#include "runtime/wipe.hpp"
#include "url/client_parameters.hpp"
#include "url/foreign.hpp"
#include "url/parts.hpp"
#include "url/reading.hpp"
#include "url/schemes.hpp"

namespace holdfast {

options resolve_url(options how) {
    const url::parts all = url::split(how.url);
    runtime::wipe(how.url); // the URL may contain a password, and the client keeps its options
    url::refuse_what_others_write(all);
    const scheme_reader read = url::reader_of(all);
    url::reading inside{all, how.credentials};
    store_url seen{inside};
    url::read_client_parameters(seen, how);
    how.store = read(seen);
    seen.refuse_unknown(); // the user's own reader may have forgotten this call
    return how;
}

} // namespace holdfast
