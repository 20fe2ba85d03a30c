// SPDX-License-Identifier: Apache-2.0
// One lock that all threads of one process want all the time.
#include "bench/contenders/arena.hpp"
#include "bench/contenders/expect_unlocked.hpp"
#include "bench/contenders/one_lock.hpp"
#include "store/redis/names.hpp"

#include <holdfast/client.hpp>
#include <holdfast/fenced_mutex.hpp>

namespace holdfast::bench {
namespace {

template <typename Lock>
class crowd : public contender {
public:
    explicit crowd(const arena& where)
        : client_{where.url()}
        , lock_{client_, name_of_lock(0)}
        , threads_{where.at_once} {}

    tally run(nanoseconds length) override {
        return through_one_lock(
            threads_, length, [this] { lock_.lock(); }, [this] { expect_unlocked(lock_); });
    }

    /// Returns the limits for the number of scripts. A local hand-over needs no script, but at
    /// least one grant comes from the server.
    claim scripts_for(const tally& all) const override { return {2, 2 * all.done}; }

private:
    client client_;
    Lock lock_;
    const int threads_;
};

/// One fenced lock for all threads. The server keeps the last token for ever, and a turn must leave
/// no key. So each turn deletes the token.
class fenced_crowd final : public crowd<fenced_mutex> {
public:
    explicit fenced_crowd(const arena& where)
        : crowd{where}
        , server_{where.connect()} {}

    tally run(nanoseconds length) override {
        tally all = crowd::run(length);
        ask(server_, {"DEL", redis::token_key({name_of_lock(0)})});
        return all;
    }

private:
    connection server_;
};

} // namespace

made holdfast_gate(const arena& where) {
    return std::make_unique<crowd<mutex>>(where);
}

made holdfast_fenced_gate(const arena& where) {
    return std::make_unique<fenced_crowd>(where);
}

} // namespace holdfast::bench
