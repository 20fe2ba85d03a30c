// SPDX-License-Identifier: Apache-2.0
#include "url/client_parameters.hpp"

namespace holdfast::url {

void read_client_parameters(store_url& url, options& how) {
    url.read("lease_time", how.lease_time);
    url.read("max_hold", how.max_hold);
    url.read("unavailable_patience", how.unavailable_patience);
    url.read("release_patience", how.release_patience);
    url.read("close_patience", how.close_patience);
    url.read("poll_bound", how.poll_bound);
    url.read("hand_off_within", how.hand_off.within);
    url.read("hand_off_times_max", how.hand_off.times_max);
    url.read("required_replicas", how.required_replicas);
    url.read("prefix", how.prefix);
    url.read("label", how.label);
    url.read("announce", how.announce);
}

} // namespace holdfast::url
