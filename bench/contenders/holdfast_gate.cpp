// SPDX-License-Identifier: Apache-2.0
// One lock that all threads of one process want, all the time.
#include "bench/contenders/arena.hpp"
#include "bench/contenders/expect_unlocked.hpp"
#include "bench/contenders/threads.hpp"

#include <holdfast/client.hpp>

#include <stdexcept>

namespace holdfast::bench {
namespace {

class crowd : public contender {
public:
    explicit crowd(const arena& where)
        : client_{where.url()}
        , lock_{client_, name_of_lock(0)}
        , threads_{where.at_once} {}

    tally run(nanoseconds length) override {
        entered_ = 0;
        const tally all = in_threads(threads_, length, [this](int) {
            const nanoseconds waited = time_of([this] { lock_.lock(); });
            ++entered_;
            expect_unlocked(lock_);
            return waited;
        });
        if (entered_ != all.done)
            throw std::runtime_error{"two threads were inside one lock at the same time"};
        return all;
    }

    /// What is handed on within the process costs the server nothing. There is at least one grant.
    claim scripts_for(const tally& all) const override { return {2, 2 * all.done}; }

private:
    client client_;
    mutex lock_;
    const int threads_;
    long long entered_ = 0; // guarded by lock_ and nothing else
};

} // namespace

made holdfast_gate(const arena& where) {
    return std::make_unique<crowd>(where);
}

} // namespace holdfast::bench
