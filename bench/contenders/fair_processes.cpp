// SPDX-License-Identifier: Apache-2.0
// Processes that all want one fair lock all the time. Each process waits in the server's queue.
#include "bench/contenders/arena.hpp"
#include "bench/contenders/peer.hpp"
#include "bench/contenders/redisson.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <vector>

namespace holdfast::bench {
namespace {

using namespace std::chrono_literals;

class queue : public contender {
public:
    /// Adds a process with `waiters` waiting threads. In a JVM each thread has its own client.
    void join(peer& who, int waiters) { all_.push_back({who, waiters}); }

    tally run(nanoseconds length) final {
        for (const member& each : all_)
            each.process.begin("fair", each.waiters, length);
        tally together;
        for (const member& each : all_) {
            const tally one = each.process.finish();
            together.done += one.done;
            together.elapsed = std::max(together.elapsed, one.elapsed);
            together.samples.insert(together.samples.end(), one.samples.begin(), one.samples.end());
        }
        return together;
    }

    /// Returns no upper limit, because a waiter makes at least one failed attempt.
    claim scripts_for(const tally& all) const final {
        return {2 * all.done, std::numeric_limits<long long>::max()};
    }

    double cpu_seconds() const final {
        double sum = 0;
        for (const member& each : all_)
            sum += each.process.cpu_seconds();
        return sum;
    }

private:
    struct member {
        peer& process;
        int waiters;
    };
    std::vector<member> all_;
};

/// The holdfast side: one process for each waiter.
class our_queue final : public queue {
public:
    explicit our_queue(const arena& where) {
        const std::vector<std::string> command{"/proc/self/exe", "--neighbour", where.url()};
        for (int i = 0; i < where.at_once; ++i)
            join(processes_.emplace_back(command, where.home.folder() / "neighbour.log"), 1);
    }

private:
    std::deque<peer> processes_; // a deque does not move its elements
};

/// Maximal number of JVMs. On a machine with few cores, more JVMs would be slower, because their
/// JIT compilers would never finish.
constexpr int jvms_at_most = 2;

/// Runs turns until the JIT compiler has compiled all functions of a turn. More waiters make this
/// faster.
void warm_up(peer& java) {
    java.begin("fair", 8, 5s);
    java.finish();
}

} // namespace

made holdfast_fair(const arena& where) {
    return std::make_unique<our_queue>(where);
}

made redisson_fair(const arena& where) {
    auto all = std::make_unique<queue>();
    const int jvms = std::min(where.at_once, jvms_at_most);
    for (int i = 0; i < jvms; ++i) {
        peer& java = where.java.process(i);
        warm_up(java);
        all->join(java, where.at_once / jvms + (i < where.at_once % jvms ? 1 : 0));
    }
    return all;
}

} // namespace holdfast::bench
