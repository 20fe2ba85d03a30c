// SPDX-License-Identifier: Apache-2.0
#include "bench/contenders/redisson.hpp"

#include "bench/contenders/nodes.hpp"

#include <cstdlib>
#include <limits>
#include <numeric>
#include <string_view>
#include <vector>

namespace holdfast::bench {
namespace {

using namespace std::chrono_literals;

/// Time until the JIT compiler has compiled all functions of a turn.
constexpr auto warm_up = 3s;

class redissons_turn : public contender {
public:
    /// Creates a contender. `kind` is a word that Driver.java accepts: "threads", "async", "gate",
    /// …
    redissons_turn(const arena& where, const char* kind, std::string more_words = {})
        : java_{where.java.process()}
        , kind_{kind}
        , more_words_{std::move(more_words)}
        , at_once_{where.at_once} {
        run(warm_up);
    }

    tally run(nanoseconds length) final {
        java_.begin(kind_, at_once_, length, more_words_);
        return java_.finish();
    }

    /// Returns no upper limit. A caller that finds the lock held makes failed attempts, and
    /// Redisson's watchdog renews every held lock every ten seconds.
    claim scripts_for(const tally& all) const override {
        const int each = std::string_view{kind_} == "rate" ? 1 : 2; // a rate has no release
        return {each * all.done, std::numeric_limits<long long>::max()};
    }

    double cpu_seconds() const override { return java_.cpu_seconds(); }

private:
    peer& java_;
    const char* const kind_;
    const std::string more_words_;
    const int at_once_;
};

} // namespace

peer& redisson::process(std::size_t number) {
    while (processes_.size() <= number)
        start_one();
    return processes_[number];
}

void redisson::start_one() {
    const char* const given = std::getenv("HOLDFAST_BENCH_REDISSON");
    const std::string what = given ? given : "";
    const std::size_t split = what.find('=');
    if (split == what.npos)
        throw not_here{"no JVM with Redisson: ./dev bench says what it misses"};
    const peer& started = processes_.emplace_back(
        std::vector<std::string>{"java", "-cp", what.substr(split + 1), "holdfast.bench.Driver",
                                 home_.url(transport::tcp_loopback)},
        home_.folder() / "redisson.log");
    version_ = "Redisson " + what.substr(0, split) + ", " + started.version();
}

double redisson::cpu_seconds() const {
    return std::accumulate(processes_.begin(), processes_.end(), 0.0,
                           [](double sum, const peer& each) { return sum + each.cpu_seconds(); });
}

made redisson_threads(const arena& where) {
    return std::make_unique<redissons_turn>(where, "threads");
}

made redisson_red_lock(const arena& where) {
    std::string addresses;
    for (const server* node : nodes(where, 5))
        addresses += ' ' + node->url(transport::tcp_loopback);
    return std::make_unique<redissons_turn>(where, "redlock", addresses);
}

made redisson_confirmed(const arena& where) {
    std::string addresses;
    for (const std::uint16_t port : where.group.value().ports)
        addresses += " redis://127.0.0.1:" + std::to_string(port);
    return std::make_unique<redissons_turn>(where, "replicated", addresses);
}

made redisson_async(const arena& where) {
    return std::make_unique<redissons_turn>(where, "async");
}

made redisson_gate(const arena& where) {
    return std::make_unique<redissons_turn>(where, "gate");
}

made redisson_reentry(const arena& where) {
    return std::make_unique<redissons_turn>(where, "reentry");
}

made redisson_readers_and_writer(const arena& where) {
    return std::make_unique<redissons_turn>(where, "readers-and-writer");
}

made redisson_semaphore(const arena& where) {
    return std::make_unique<redissons_turn>(where, "semaphore", " 8");
}

made redisson_free_semaphore(const arena& where) {
    return std::make_unique<redissons_turn>(where, "semaphore",
                                            ' ' + std::to_string(where.at_once));
}

made redisson_permits(const arena& where) {
    return std::make_unique<redissons_turn>(where, "permits", " 8");
}

made redisson_rate(const arena& where) {
    return std::make_unique<redissons_turn>(where, "rate", ' ' + std::to_string(draws_of_a_rate));
}

} // namespace holdfast::bench
