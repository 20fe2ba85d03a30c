// SPDX-License-Identifier: Apache-2.0
// Curator in its own JVM. It is a program of ./dev interop (tests/interop/others/curator), which
// runs a whole turn by itself.
#include "bench/contenders/arena.hpp"
#include "bench/contenders/neighbours_program.hpp"
#include "bench/contenders/peer.hpp"

#include <limits>

namespace holdfast::bench {
namespace {

using namespace std::chrono_literals;

/// Warm-up time, the same as for Redisson. Here the server is a JVM too.
constexpr auto warm_up_of_curator = 5s;

class curators_turn final : public contender {
public:
    curators_turn(const arena& where, std::string kind)
        : process_{{program_of_neighbour("curator"), "bench", where.group.value().url},
                   where.home.folder() / "curator.log"}
        , kind_{std::move(kind)}
        , at_once_{where.at_once} {
        run(warm_up_of_curator);
    }

    tally run(nanoseconds length) override {
        process_.begin(kind_, at_once_, length);
        return process_.finish();
    }

    claim scripts_for(const tally& all) const override {
        return {2 * all.done, std::numeric_limits<long long>::max()};
    }

    double cpu_seconds() const override { return process_.cpu_seconds(); }

private:
    peer process_;
    const std::string kind_;
    const int at_once_;
};

} // namespace

made curator_threads(const arena& where) {
    return std::make_unique<curators_turn>(where, "pairs");
}

made curator_queue(const arena& where) {
    return std::make_unique<curators_turn>(where, "queue");
}

} // namespace holdfast::bench
