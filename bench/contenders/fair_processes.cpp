// SPDX-License-Identifier: Apache-2.0
// Processes that want one fair lock, all the time. Each waits in the server's queue.
#include "bench/contenders/arena.hpp"
#include "bench/contenders/peer.hpp"
#include "bench/contenders/redisson.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace holdfast::bench {
namespace {

using namespace std::chrono_literals;

/// More would be the slower on a few cores, as their JIT compilers are never done: eight take five
/// times the CPU of two. So each has several clients, with connections and threads of their own.
constexpr int jvms_at_most = 2;

/// Until the JIT compiler has done with what a turn calls.
constexpr auto warm_up = 3s;
constexpr int waiters_in_warm_up = 2;

class queue : public contender {
public:
    /// `waiters`: that many of its threads, each with a client of its own if it is a JVM.
    void join(std::unique_ptr<peer> who, int waiters) { all_.push_back({std::move(who), waiters}); }

    tally run(nanoseconds length) override {
        for (const member& each : all_)
            each.process->begin("fair", each.waiters, length);
        tally together;
        for (const member& each : all_) {
            const tally one = each.process->finish();
            together.done += one.done;
            together.elapsed = std::max(together.elapsed, one.elapsed);
            together.samples.insert(together.samples.end(), one.samples.begin(), one.samples.end());
        }
        return together;
    }

    /// Or more: whoever waits has asked in vain.
    claim scripts_for(const tally& all) const override {
        return {2 * all.done, std::numeric_limits<long long>::max()};
    }

    double cpu_seconds() const override {
        double sum = 0;
        for (const member& each : all_)
            sum += each.process->cpu_seconds();
        return sum;
    }

private:
    struct member {
        std::unique_ptr<peer> process;
        int waiters;
    };
    std::vector<member> all_;
};

} // namespace

made holdfast_fair(const arena& where) {
    auto all = std::make_unique<queue>();
    const std::vector<std::string> command{"/proc/self/exe", "--neighbour", where.url()};
    for (int i = 0; i < where.at_once; ++i)
        all->join(std::make_unique<peer>(command, where.home.folder() / "neighbour.log"), 1);
    return all;
}

made redisson_fair(const arena& where) {
    auto all = std::make_unique<queue>();
    const int jvms = std::min(where.at_once, jvms_at_most);
    for (int i = 0; i < jvms; ++i) {
        std::unique_ptr<peer> java = where.java.start();
        java->begin("fair", waiters_in_warm_up, warm_up);
        java->finish();
        all->join(std::move(java), where.at_once / jvms + (i < where.at_once % jvms ? 1 : 0));
    }
    return all;
}

} // namespace holdfast::bench
