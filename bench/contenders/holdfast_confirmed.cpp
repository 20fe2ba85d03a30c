// SPDX-License-Identifier: Apache-2.0
// Measures how much longer a call takes when a replica must confirm the grant.
#include "bench/contenders/arena.hpp"
#include "bench/contenders/expect_unlocked.hpp"
#include "bench/contenders/of_both.hpp"

#include <holdfast/client.hpp>

namespace holdfast::bench {
namespace {

class confirmed_calls : public contender {
public:
    explicit confirmed_calls(const arena& where)
        : client_{where.url()} {}

    tally run(nanoseconds length) override {
        return of_both(
            length, [this] { alone_.lock(); }, [this] { expect_unlocked(alone_); },
            [this] { confirmed_.lock(); }, [this] { expect_unlocked(confirmed_); });
    }

    claim scripts_for(const tally& all) const override { return {4 * all.done, 4 * all.done}; }

private:
    client client_;
    mutex alone_{client_, name_of_lock(0)};
    mutex confirmed_{client_, name_of_lock(1), mutex_options{.required_replicas = 1}};
};

} // namespace

made holdfast_confirmation(const arena& where) {
    return std::make_unique<confirmed_calls>(where);
}

} // namespace holdfast::bench
