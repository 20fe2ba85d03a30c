// SPDX-License-Identifier: Apache-2.0
// Redlock of other libraries (redsync and node-redlock), each in its own process. They are programs
// of ./dev interop (tests/interop/others), which run a whole turn by themselves.
#include "bench/contenders/neighbours_program.hpp"
#include "bench/contenders/nodes.hpp"
#include "bench/contenders/peer.hpp"
#include "bench/contenders/redisson.hpp"

#include <limits>

namespace holdfast::bench {
namespace {

using namespace std::chrono_literals;

/// Warm-up time, the same as for Redisson. V8 needs it for its compiler, and Go for its
/// connections.
constexpr auto warm_up_of_others = 3s;

std::vector<std::string> command_for(const std::string& name,
                                     const std::vector<const server*>& nodes) {
    std::vector<std::string> words{program_of_neighbour(name), "bench"};
    for (const server* node : nodes)
        words.push_back(node->url(transport::tcp_loopback));
    return words;
}

class other_quorum : public contender {
public:
    /// `scripts` is the number of scripts that a pair runs on each node.
    other_quorum(const arena& where, const std::string& name, int scripts)
        : nodes_{nodes(where, 5)}
        , books_{nodes_}
        , process_{command_for(name, nodes_), where.home.folder() / (name + ".log")}
        , at_once_{where.at_once}
        , scripts_{scripts} {
        run(warm_up_of_others);
    }

    /// Runs one turn. Both libraries wait for all nodes, so no key is left at the end.
    tally run(nanoseconds length) final {
        books_.clear();
        process_.begin("quorum", at_once_, length);
        tally all = process_.finish();
        books_.expect(scripts_ * majority * all.done);
        return all;
    }

    /// Returns no upper limit. A failed attempt is released on all nodes and repeated, so it needs
    /// more scripts.
    claim scripts_for(const tally& all) const override {
        return {scripts_ * all.done, std::numeric_limits<long long>::max()};
    }

    double cpu_seconds() const override { return process_.cpu_seconds(); }

private:
    static constexpr long long majority = 3;

    const std::vector<const server*> nodes_;
    books_of_nodes books_;
    peer process_;
    const int at_once_;
    const long long scripts_;
};

} // namespace

/// Creates the contender for redsync. It runs only one script in a pair, because it takes a lock
/// with a plain SET.
made redsync_quorum(const arena& where) {
    return std::make_unique<other_quorum>(where, "redsync", 1);
}

made node_redlock_quorum(const arena& where) {
    return std::make_unique<other_quorum>(where, "node-redlock", 2);
}

} // namespace holdfast::bench
