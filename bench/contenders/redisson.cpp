// SPDX-License-Identifier: Apache-2.0
#include "bench/contenders/redisson.hpp"

#include "bench/contenders/arena.hpp"

#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>
#include <utility>

#include <time.h>

namespace holdfast::bench {
namespace {

using namespace std::chrono_literals;

/// Starting a JVM, or the end of a turn: far more than either takes on a busy machine.
constexpr auto answers_within = 60s;

/// Until the JIT compiler has done with what a turn calls.
constexpr auto warm_up = 3s;

std::filesystem::path log_in(const server& home) {
    return home.folder() / "redisson.log";
}

class redissons_turn : public contender {
public:
    redissons_turn(const arena& where, const char* kind)
        : java_{where.java}
        , kind_{kind}
        , at_once_{where.at_once} {
        java_.run(kind_, at_once_, warm_up);
    }

    tally run(nanoseconds length) override { return java_.run(kind_, at_once_, length); }

    /// Or more: who finds a lock held has asked in vain, and every ten seconds Redisson's watchdog
    /// renews whatever is held at that moment.
    claim scripts_for(const tally& all) const override {
        return {2 * all.done, std::numeric_limits<long long>::max()};
    }

    double cpu_seconds() const override { return java_.cpu_seconds(); }

private:
    redisson& java_;
    const char* const kind_;
    const int at_once_;
};

} // namespace

tally redisson::run(const std::string& kind, int at_once, nanoseconds length) {
    if (!process_)
        start();
    process_->say(kind + " " + std::to_string(at_once) + " " + std::to_string(length.count()));
    return read_tally(answer());
}

void redisson::start() {
    const char* const given = std::getenv("HOLDFAST_BENCH_REDISSON");
    const std::string what = given ? given : "";
    const std::size_t split = what.find('=');
    if (split == what.npos)
        throw not_here{"no JVM with Redisson: ./dev bench says what it misses"};
    process_.emplace(std::vector<std::string>{"java", "-cp", what.substr(split + 1),
                                              "holdfast.bench.Driver",
                                              home_.url(transport::tcp_loopback)},
                     log_in(home_));
    version_ = "Redisson " + what.substr(0, split) + ", " + answer();
}

std::string redisson::answer() {
    if (process_->speaks_within(answers_within))
        if (std::optional<std::string> line = process_->next_line())
            return *std::move(line);
    std::ostringstream said;
    said << std::ifstream{log_in(home_)}.rdbuf();
    throw std::runtime_error{"the JVM with Redisson has ended, or says nothing: " + said.str()};
}

double redisson::cpu_seconds() const {
    clockid_t clock{};
    timespec used{};
    if (process_ && ::clock_getcpuclockid(process_->id(), &clock) == 0)
        ::clock_gettime(clock, &used);
    return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
}

made redisson_threads(const arena& where) {
    return std::make_unique<redissons_turn>(where, "threads");
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

} // namespace holdfast::bench
