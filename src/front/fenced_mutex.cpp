// SPDX-License-Identifier: Apache-2.0
#include "front/async.hpp"
#include "front/blocking.hpp"
#include "front/own_entry.hpp"

#include <holdfast/fenced_mutex.hpp>

namespace holdfast {
namespace {

asio::awaitable<std::uint64_t> last_token_at(std::shared_ptr<sync::subject> lock) {
    co_return co_await lock->home->operators_view().last_token(lock->name);
}

} // namespace

fenced_mutex::fenced_mutex(client& home, lock_name name, fenced_options how)
    : basic_mutex{home,
                  std::move(name),
                  {.kind = lock_kind::fenced,
                   .lease = how.lease,
                   .again = how.again,
                   .deferred = how.deferred,
                   .numbers = how.numbers,
                   .replicas = how.required_replicas}} {}

std::uint64_t fenced_mutex::fencing_token() const noexcept {
    if (subject()->home->forked())
        return 0;
    const sync::thread_table::entry mine = front::own_entry(*subject());
    return mine.count > 0 ? mine.hold->token() : 0;
}

std::uint64_t fenced_mutex::last_token() const {
    return front::wait_for(subject()->home, last_token_at(subject()));
}

void fenced_mutex::start_last_token(
    std::shared_ptr<sync::subject> lock,
    asio::any_completion_handler<void(error_code, std::uint64_t)> handler) {
    front::start(lock->home, last_token_at(lock), std::move(handler));
}

} // namespace holdfast
