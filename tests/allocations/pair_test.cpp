// SPDX-License-Identifier: Apache-2.0
// Counts the allocations of the most common operation: one thread takes a free lock and releases
// it.
#include "allocations/counted.hpp"
#include "support/eventually.hpp"
#include "support/on_each_server.hpp"

#include <holdfast/client.hpp>
#include <holdfast/mutex.hpp>
#include <holdfast/redis/options.hpp>

namespace holdfast::allocations {
namespace {

class Pair : public support::on_each_server {
protected:
    client make_client() {
        redis::options how;
        how.unix_socket = server().socket_path();
        return client{options{.store = redis::make_store(how)}};
    }
};
HOLDFAST_ON_EACH_SERVER(Pair);

/// Each of a few objects for one call and one hold, and strings that are the name or the owner:
///
///     lock()    the name as the place and the hold keep it; the call, its alarm, its place, the
///               hold, an entry in the thread table; the owner's text; the answer's items
///     unlock()  what is waited for; the name once more, the channel's; the owner's text; the
///               answer's items
///
/// All together take a hundredth of the time (docs/performance.md): a pool would not be noticed.
constexpr std::size_t per_pair = 14;

TEST_P(Pair, AllocatesNoMoreThanWhatItKeeps) {
    client home = make_client();
    mutex lock{home, "a name that no string can keep within itself"};
    const auto pairs = [&](std::size_t how_many) {
        const counted mine;
        for (std::size_t i = 0; i < how_many; ++i) {
            lock.lock();
            lock.unlock();
        }
        return mine.so_far();
    };
    // Once it has a blocking connection. On the way there this thread does less itself, and some of
    // it more often.
    EXPECT_TRUE(support::eventually([&] { return pairs(100) == 100 * per_pair; }))
        << pairs(100) << " for 100 pairs";
}

} // namespace
} // namespace holdfast::allocations
