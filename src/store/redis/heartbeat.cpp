// SPDX-License-Identifier: Apache-2.0
#include "store/redis/heartbeat.hpp"

#include "net/failure.hpp"
#include "runtime/background.hpp"
#include "store/remote/card_of.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace holdfast::redis {
namespace {

/// Lower bound of the key's TTL. The key must outlive the longest hold of its client, because users
/// ask who held a lock after the holder has died. The key is written again after a third of its
/// TTL, at the same rate as holds are renewed.
constexpr duration kept_min = std::chrono::minutes{1};
constexpr int writes_while_kept = 3;

/// Longest wait of close() for a server that does not reply. Without a reply, the key expires
/// later.
constexpr duration farewell_patience{500};

} // namespace

heartbeat::heartbeat(node& server, store_context context)
    : server_{&server}
    , context_{std::move(context)}
    , key_{client_key(context_.client)}
    , card_{remote::card_of(context_)} {}

void heartbeat::beat(duration lease, time_point now) {
    const duration::rep kept = std::max({lease.count(), kept_min.count(), kept_.load()});
    const duration::rep moment = now.time_since_epoch().count();
    if (kept == kept_ && moment < due_at_)
        return;
    kept_ = kept;
    due_at_ = moment + kept / writes_while_kept;
    start_writing(duration{kept});
}

void heartbeat::start_writing(duration kept) {
    runtime::run_in_background(context_, write(shared_from_this(), kept));
}

asio::awaitable<void> heartbeat::write(std::shared_ptr<heartbeat> self, duration kept) {
    try {
        if (self->server_)
            co_await announce_client(*self->server_, self->key_, self->card_, kept);
    } catch (const boost::system::system_error& why) {
        self->note(why);
    }
    if (kept == duration::zero() && self->ended_)
        self->ended_->ring();
}

// Tells the observer, once, that the right to write the key is missing. After any other error, the
// next call of beat() tries again.
void heartbeat::note(const boost::system::system_error& why) {
    if (why.code() != store_errc::no_permission || !server_ || std::exchange(denied_, true))
        return;
    constexpr std::string_view text =
        "this client may not write who it is: whoever asks who holds its locks learns a number (to "
        "be granted: +set +del ~holdfast_client:*; or options::announce = false)";
    if (context_.tell)
        context_.tell({.kind = event_kind::impaired,
                       .cause = event_cause::failed,
                       .name = key_.data(),
                       .name_size = key_.size(),
                       .code = static_cast<std::int32_t>(errc::refused),
                       .text = text.data(),
                       .text_size = text.size()});
}

asio::awaitable<void> heartbeat::end() {
    if (kept_ == 0 || denied_)
        co_return;
    const std::unique_ptr<alarm> ended = context_.time.make_alarm();
    ended_ = ended.get();
    kept_ = due_at_ = std::numeric_limits<duration::rep>::max(); // no later call of beat() writes
    start_writing(duration::zero()); // the last write, as all writes use one connection
    co_await ended->wait_until(context_.time.now() + farewell_patience);
    ended_ = nullptr;
}

} // namespace holdfast::redis
