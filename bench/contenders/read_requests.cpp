// SPDX-License-Identifier: Apache-2.0
#include "bench/contenders/read_requests.hpp"

#include "bench/contenders/arena.hpp"
#include "store/redis/names.hpp"
#include "store/redis/scripts.hpp"

namespace holdfast::bench {
namespace {

namespace scripts = redis::scripts;

const lock_name shared{name_of_lock(0)};

} // namespace

read_requests::read_requests(int reader, const connection& to)
    : client_{"00000000-0000-8000-8000-" + std::to_string(100'000'000'000 + reader) + ":"}
    , name_{shared.text}
    , marks_{redis::writers_key(shared)}
    , timers_{redis::timer_prefix(shared)}
    , channel_{redis::shared_channel(shared).text} {
    ask(to, {"SCRIPT", "LOAD", scripts::lock_read.text});
    ask(to, {"SCRIPT", "LOAD", scripts::release_read.text});
}

void read_requests::append_lock(std::string& out) {
    owner_ = client_ + std::to_string(++number_);
    timer_ = redis::timer_key(shared, owner_);
    append_request(out, {"EVALSHA", scripts::lock_read.sha1, "3", name_, timer_, marks_, lease_ms,
                         owner_, next_deadline(), ""});
}

void read_requests::append_release(std::string& out) const {
    append_request(out, {"EVALSHA", scripts::release_read.sha1, "3", name_, timer_, marks_, owner_,
                         timers_, channel_, redis::publishing{}.command});
}

} // namespace holdfast::bench
